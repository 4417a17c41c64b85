// TCP connections with one owner.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace bench::kernels {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // False where the connection ends before all bytes are through, or the receiving limit is over.
  bool send(const void* data, std::size_t bytes) const;
  bool receive(void* data, std::size_t bytes) const;
  // How long receive() waits for more bytes; without a limit at first.
  void limit_receiving(std::optional<std::chrono::nanoseconds> limit) const;

 private:
  int descriptor_ = -1;
};

// Where a name leads; made once, for it may take seconds. Throws UsageError naming MASTER_ADDR.
class SocketAddress {
 public:
  SocketAddress(const std::string& host, int port);
  ~SocketAddress();
  SocketAddress(const SocketAddress&) = delete;
  SocketAddress& operator=(const SocketAddress&) = delete;

  bool is_of_this_host() const;
  // Listens at this address where it is the loopback's, else at all of this host's. Without a socket where
  // the port is taken: errno says why.
  Socket listen() const;
  // Without a socket where nobody answers within the limit.
  Socket connect(std::chrono::nanoseconds limit) const;

 private:
  struct Resolved;
  std::unique_ptr<Resolved> resolved_;
};

// The next connection to a listening socket; without one after the limit.
Socket accept(const Socket& listening, std::chrono::nanoseconds limit);

}  // namespace bench::kernels
