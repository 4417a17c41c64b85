#include "bench/run/rank_pulse.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kEvery = 1s;    // between signs
constexpr auto kToReach = 1s;  // an address of the first rank
constexpr auto kToCome = 5s;   // all ranks, to the first
constexpr char kSign = '.';
constexpr char kWelcome = '+';

// Those of this host's IPv4 interfaces, the loopback's last.
std::vector<std::string> own_addresses() {
  std::vector<std::string> all;
  std::vector<std::string> loopback;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return {};
  }
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* const address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : all).emplace_back(text.data());
  }
  ::freeifaddrs(first);
  all.insert(all.end(), loopback.begin(), loopback.end());
  return all;
}

// nullopt: none. `port`: that it has.
std::optional<FileDescriptor> listening_socket(int& port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (socket.get() < 0 || ::bind(socket.get(), any, size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), any, &size) != 0) {
    return std::nullopt;
  }
  port = ntohs(address.sin_port);
  return socket;
}

bool is_ready(int socket, short event, std::chrono::milliseconds limit) {
  pollfd one{.fd = socket, .events = event, .revents = 0};
  return ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, limit.count()))) == 1;
}

void send_text(int socket, std::string_view text) {
  // A rank that takes nothing any more is seen by its silence.
  [[maybe_unused]] const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Up to its end; empty where it does not come.
std::string received_line(int socket, std::chrono::milliseconds limit) {
  constexpr std::size_t kLongestLine = 200;
  std::string line;
  for (char next = 0; line.size() < kLongestLine && is_ready(socket, POLLIN, limit) &&
                      ::recv(socket, &next, 1, MSG_DONTWAIT) == 1;) {
    if (next == '\n') {
      return line;
    }
    line += next;
  }
  return "";
}

std::optional<FileDescriptor> connected_socket(const std::string& address, int port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (socket.get() < 0 || ::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    return std::nullopt;
  }
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    return socket;
  }
  int error = errno;
  socklen_t size = sizeof(error);
  const bool connected = error == EINPROGRESS && is_ready(socket.get(), POLLOUT, kToReach) &&
                         ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  return connected ? std::optional(std::move(socket)) : std::nullopt;
}

}  // namespace

std::unique_ptr<RankPulse> RankPulse::connect(RankGroup& group, const std::vector<RankPlace>& places) {
  if (hosts_of(places).size() < 2) {
    return nullptr;
  }
  std::unique_ptr<RankPulse> pulse(new RankPulse(group.size()));
  int port = 0;
  const auto listening = group.rank() == 0 ? listening_socket(port) : std::nullopt;
  std::random_device random;
  const std::string key = fmt::format("{:08x}{:08x}", random(), random());
  const std::string invitation =
      texts_of(group, !listening ? std::string()
                                 : fmt::format("{} {} {}", key, port, fmt::join(own_addresses(), " ")))
          .front();
  if (listening) {
    pulse->listen_for_all(*listening, key);
  } else if (group.rank() > 0 && !invitation.empty()) {
    pulse->reach_first(invitation, group.rank());
  }
  std::size_t connected = 0;
  for (const Peer& peer : pulse->peers_) {
    connected += peer.socket ? 1 : 0;
  }
  const std::size_t wanted = group.rank() == 0 ? pulse->peers_.size() - 1 : 1;
  const std::vector<std::string> all = texts_of(group, connected == wanted ? "connected" : "");
  return std::ranges::count(all, "") == 0 ? std::move(pulse) : nullptr;
}

void RankPulse::listen_for_all(const FileDescriptor& listening, const std::string& key) {
  const Time end = std::chrono::steady_clock::now() + kToCome;
  for (std::size_t missing = peers_.size() - 1; missing > 0;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= 0ms || !is_ready(listening.get(), POLLIN, left)) {
      return;
    }
    FileDescriptor socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::istringstream hello(socket.get() < 0 ? "" : received_line(socket.get(), kToReach));
    std::string given;
    std::size_t rank = 0;
    if (!(hello >> given >> rank) || given != key || rank < 1 || rank >= peers_.size()) {
      continue;
    }
    Peer& peer = peers_[rank];
    missing -= peer.socket ? 0 : 1;  // a rank that comes again gave up its first connection
    peer.socket.emplace(std::move(socket));
    peer.heard = std::chrono::steady_clock::now();
    send_text(peer.socket->get(), std::string_view(&kWelcome, 1));
  }
}

void RankPulse::reach_first(const std::string& invitation, int rank) {
  std::istringstream words(invitation);
  std::string key;
  int port = 0;
  words >> key >> port;
  for (std::string address; words >> address;) {
    auto socket = connected_socket(address, port);
    if (!socket) {
      continue;
    }
    send_text(socket->get(), fmt::format("{} {}\n", key, rank));
    char answer = 0;
    if (is_ready(socket->get(), POLLIN, kToReach) && ::recv(socket->get(), &answer, 1, MSG_DONTWAIT) == 1 &&
        answer == kWelcome) {
      peers_.front().socket.emplace(*std::move(socket));
      peers_.front().heard = std::chrono::steady_clock::now();
      return;
    }
  }
}

void RankPulse::beat() {
  const std::scoped_lock lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  const bool due = now - sent_ >= kEvery;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank].socket || peers_[rank].gone) {
      continue;
    }
    if (due) {
      send_text(peers_[rank].socket->get(), std::string_view(&kSign, 1));
    }
    hear(rank, now);
  }
  sent_ = due ? now : sent_;
}

void RankPulse::hear(std::size_t rank, Time now) {
  Peer& peer = peers_[rank];
  std::array<char, 1024> bytes{};
  for (;;) {
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): it does not wait
    const ssize_t count = ::recv(peer.socket->get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      return;
    }
    if (count <= 0) {
      peer.gone = true;
      return;
    }
    peer.heard = now;
    for (const char byte : std::string_view(bytes.data(), static_cast<std::size_t>(count))) {
      if (byte == '\n') {
        if (told_.empty()) {
          told_ = peer.text;
          pass_on(told_, rank);
        }
        peer.text.clear();
      } else if (byte != kSign || !peer.text.empty()) {
        peer.text += byte;
      }
    }
  }
}

void RankPulse::pass_on(const std::string& text, std::size_t except) {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != except && peers_[rank].socket && !peers_[rank].gone) {
      send_text(peers_[rank].socket->get(), text + "\n");
    }
  }
}

std::optional<std::chrono::nanoseconds> RankPulse::silent_for(int rank) const {
  const std::scoped_lock lock(mutex_);
  const Peer& peer = peers_.at(static_cast<std::size_t>(rank));
  return !peer.socket
             ? std::nullopt
             : std::optional<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - peer.heard);
}

bool RankPulse::is_gone(int rank) const {
  const std::scoped_lock lock(mutex_);
  return peers_.at(static_cast<std::size_t>(rank)).gone;
}

void RankPulse::tell(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (told_.empty()) {
    told_ = reason;
    pass_on(reason, peers_.size());
  }
}

std::string RankPulse::told() const {
  const std::scoped_lock lock(mutex_);
  return told_;
}

}  // namespace bench
