#include "bench/run/rank_heartbeat.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
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

// Up to its end; empty where it does not come.
std::string received_line(const Socket& socket) {
  constexpr std::size_t kLongestLine = 200;
  std::string line;
  for (char next = 0; line.size() < kLongestLine && socket.receive(&next, 1);) {
    if (next == '\n') {
      return line;
    }
    line += next;
  }
  return "";
}

}  // namespace

std::unique_ptr<RankHeartbeat> RankHeartbeat::connect(RankGroup& group,
                                                      const std::vector<RankPlace>& places) {
  if (hosts_of(places).size() < 2) {
    return nullptr;
  }
  std::unique_ptr<RankHeartbeat> heartbeat(new RankHeartbeat(group.size()));
  const Socket listening = group.rank() == 0 ? SocketAddress("0.0.0.0", 0).listen() : Socket();
  std::random_device random;
  const std::string key = fmt::format("{:08x}{:08x}", random(), random());
  const std::string invitation = texts_of(group, !listening ? std::string()
                                                            : fmt::format("{} {} {}", key, listening.port(),
                                                                          fmt::join(own_addresses(), " ")))
                                     .front();
  if (listening) {
    heartbeat->listen_for_all(listening, key);
  } else if (group.rank() > 0 && !invitation.empty()) {
    heartbeat->reach_first(invitation, group.rank());
  }
  std::size_t connected = 0;
  for (const Peer& peer : heartbeat->peers_) {
    connected += peer.socket ? 1 : 0;
  }
  const std::size_t wanted = group.rank() == 0 ? heartbeat->peers_.size() - 1 : 1;
  const std::vector<std::string> all = texts_of(group, connected == wanted ? "connected" : "");
  return std::ranges::count(all, "") == 0 ? std::move(heartbeat) : nullptr;
}

void RankHeartbeat::listen_for_all(const Socket& listening, const std::string& key) {
  const Time end = std::chrono::steady_clock::now() + kToCome;
  for (std::size_t missing = peers_.size() - 1; missing > 0;) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= 0ms) {
      return;
    }
    Socket socket = accept(listening, left);
    socket.limit_receiving(kToReach);
    std::istringstream hello(received_line(socket));
    std::string given;
    std::size_t rank = 0;
    if (!(hello >> given >> rank) || given != key || rank < 1 || rank >= peers_.size()) {
      continue;
    }
    Peer& peer = peers_[rank];
    missing -= peer.socket ? 0 : 1;  // a rank that comes again gave up its first connection
    peer.socket = std::move(socket);
    peer.heard = std::chrono::steady_clock::now();
    peer.socket.send_now({&kWelcome, 1});
  }
}

void RankHeartbeat::reach_first(const std::string& invitation, int rank) {
  std::istringstream words(invitation);
  std::string key;
  int port = 0;
  words >> key >> port;
  for (std::string address; words >> address;) {
    Socket socket = SocketAddress(address, port).connect(kToReach);
    if (!socket) {
      continue;
    }
    socket.limit_receiving(kToReach);
    socket.send_now(fmt::format("{} {}\n", key, rank));
    char answer = 0;
    if (socket.receive(&answer, 1) && answer == kWelcome) {
      peers_.front().socket = std::move(socket);
      peers_.front().heard = std::chrono::steady_clock::now();
      return;
    }
  }
}

void RankHeartbeat::beat() {
  const std::scoped_lock lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  const bool due = now - sent_ >= kEvery;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank].socket || peers_[rank].gone) {
      continue;
    }
    if (due) {
      // A rank that takes nothing any more is seen by its silence.
      peers_[rank].socket.send_now({&kSign, 1});
    }
    hear(rank, now);
  }
  sent_ = due ? now : sent_;
}

void RankHeartbeat::hear(std::size_t rank, Time now) {
  Peer& peer = peers_[rank];
  std::array<char, 1024> bytes{};
  for (;;) {
    const std::optional<std::size_t> count = peer.socket.receive_now(bytes.data(), bytes.size());
    if (!count) {
      return;
    }
    if (*count == 0) {
      peer.gone = true;
      return;
    }
    peer.heard = now;
    for (const char byte : std::string_view(bytes.data(), *count)) {
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

void RankHeartbeat::pass_on(const std::string& text, std::size_t except) {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != except && peers_[rank].socket && !peers_[rank].gone) {
      peers_[rank].socket.send_now(text + "\n");
    }
  }
}

std::optional<std::chrono::nanoseconds> RankHeartbeat::silent_for(int rank) const {
  const std::scoped_lock lock(mutex_);
  const Peer& peer = peers_.at(static_cast<std::size_t>(rank));
  return !peer.socket
             ? std::nullopt
             : std::optional<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - peer.heard);
}

bool RankHeartbeat::is_gone(int rank) const {
  const std::scoped_lock lock(mutex_);
  return peers_.at(static_cast<std::size_t>(rank)).gone;
}

void RankHeartbeat::tell(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (told_.empty()) {
    told_ = reason;
    pass_on(reason, peers_.size());
  }
}

std::string RankHeartbeat::told() const {
  const std::scoped_lock lock(mutex_);
  return told_;
}

}  // namespace bench
