#include "bench/run/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// By calls that may each move a part. False where the other end is gone or the limit of time is over.
bool move_all(auto* at, std::size_t bytes, const auto& call) {
  while (bytes > 0) {
    const ssize_t moved = call(at, bytes);
    if (moved < 0 && errno == EINTR) {
      continue;
    }
    if (moved <= 0) {
      return false;
    }
    at += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

int milliseconds(std::chrono::nanoseconds time) {
  constexpr std::int64_t kMost = 3'600'000;
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return static_cast<int>(std::clamp<std::int64_t>(whole, 0, kMost));
}

bool is_ready(int descriptor, short events, std::chrono::nanoseconds limit) {
  pollfd watched{.fd = descriptor, .events = events, .revents = 0};
  return ::poll(&watched, 1, milliseconds(limit)) > 0;
}

void send_at_once(int descriptor) {
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(address);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr) != 0;
}

in_port_t& port_of(sockaddr_storage& address) {
  return address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(address).sin_port
                                      : reinterpret_cast<sockaddr_in6&>(address).sin6_port;
}

void set_any_host(sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_ANY);
  } else {
    reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_any;
  }
}

}  // namespace

int Socket::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(port_of(address));
}

bool Socket::send(const void* data, std::size_t bytes) const {
  return move_all(static_cast<const std::byte*>(data), bytes, [&](const std::byte* from, std::size_t left) {
    return ::send(descriptor(), from, left, MSG_NOSIGNAL);
  });
}

bool Socket::receive(void* data, std::size_t bytes) const {
  return move_all(static_cast<std::byte*>(data), bytes,
                  [&](std::byte* to, std::size_t left) { return ::recv(descriptor(), to, left, 0); });
}

void Socket::send_now(std::string_view text) const {
  [[maybe_unused]] const ssize_t sent =
      ::send(descriptor(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::size_t> Socket::receive_now(void* data, std::size_t most) const {
  // MSG_DONTWAIT: it does not block, which the check does not see.
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
  const ssize_t count = ::recv(descriptor(), data, most, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

void Socket::limit_receiving(std::optional<std::chrono::nanoseconds> limit) const {
  timeval time{};  // 0: no limit
  if (limit) {
    constexpr int kThousand = 1000;
    const int ms = std::max(1, milliseconds(*limit));
    time = {.tv_sec = ms / kThousand, .tv_usec = ms % kThousand * kThousand};
  }
  ::setsockopt(descriptor(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

struct SocketAddress::Resolved {
  addrinfo* first = nullptr;
};

SocketAddress::SocketAddress(const std::string& host, int port) : resolved_(std::make_unique<Resolved>()) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &resolved_->first);
  if (error != 0) {
    throw UsageError(
        fmt::format("{} was given, which leads to no host: {}", quote(host), ::gai_strerror(error)));
  }
}

SocketAddress::~SocketAddress() {
  ::freeaddrinfo(resolved_->first);
}

bool SocketAddress::is_of_this_host() const {
  for (const addrinfo* one = resolved_->first; one != nullptr; one = one->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, one->ai_addr, one->ai_addrlen);
    port_of(address) = 0;
    const Socket socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket && ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), one->ai_addrlen) == 0) {
      return true;
    }
  }
  return false;
}

Socket SocketAddress::listen() const {
  constexpr int kWaiting = 128;  // connections
  const addrinfo& own = *resolved_->first;
  sockaddr_storage address{};
  std::memcpy(&address, own.ai_addr, own.ai_addrlen);
  if (!is_loopback(own.ai_addr)) {
    set_any_host(address);
  }
  Socket socket(::socket(own.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // connections of a run that has ended do not hold the port
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool listens =
      socket && ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), own.ai_addrlen) == 0 &&
      ::listen(socket.descriptor(), kWaiting) == 0;
  return listens ? std::move(socket) : Socket();
}

Socket SocketAddress::connect(std::chrono::nanoseconds limit) const {
  for (const addrinfo* one = resolved_->first; one != nullptr; one = one->ai_next) {
    Socket socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      continue;
    }
    int error = ::connect(socket.descriptor(), one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS && is_ready(socket.descriptor(), POLLOUT, limit)) {
      socklen_t size = sizeof(error);
      ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) {
      const int flags = ::fcntl(socket.descriptor(), F_GETFL);
      ::fcntl(socket.descriptor(), F_SETFL, flags & ~O_NONBLOCK);
      send_at_once(socket.descriptor());
      return socket;
    }
  }
  return {};
}

Socket accept(const Socket& listening, std::chrono::nanoseconds limit) {
  if (!is_ready(listening.descriptor(), POLLIN, limit)) {
    return {};
  }
  Socket socket(::accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket) {
    send_at_once(socket.descriptor());
  }
  return socket;
}

}  // namespace bench
