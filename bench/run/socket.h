// TCP connections with one owner.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/host/file_descriptor.h"

namespace bench {

class Socket {
 public:
  Socket() : descriptor_(-1) {}
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  explicit operator bool() const { return descriptor_.is_open(); }
  int descriptor() const { return descriptor_.get(); }
  // Of this host; 0 where it has none.
  int port() const;

  // False where the connection ends before all bytes are through, or the receiving limit is over.
  bool send(const void* data, std::size_t bytes) const;
  bool receive(void* data, std::size_t bytes) const;
  // As much as the system takes without waiting.
  void send_now(std::string_view text) const;
  // What has come, without waiting: how many bytes, 0 where the connection has ended; nullopt: nothing yet.
  std::optional<std::size_t> receive_now(void* data, std::size_t most) const;
  // How long receive() waits for more bytes; without a limit at first.
  void limit_receiving(std::optional<std::chrono::nanoseconds> limit) const;

 private:
  FileDescriptor descriptor_;
};

// Where a name leads; made once, for it may take seconds. Throws UsageError where it leads nowhere.
class SocketAddress {
 public:
  SocketAddress(const std::string& host, int port);
  ~SocketAddress();
  SocketAddress(const SocketAddress&) = delete;
  SocketAddress& operator=(const SocketAddress&) = delete;

  bool is_of_this_host() const;
  // Listens at this address where it is the loopback's, else at all of this host's; at a free port for 0.
  // Without a socket where the port is taken: errno says why.
  Socket listen() const;
  // Without a socket where nobody answers within the limit.
  Socket connect(std::chrono::nanoseconds limit) const;

 private:
  struct Resolved;
  std::unique_ptr<Resolved> resolved_;
};

// The next connection to a listening socket; without one after the limit.
Socket accept(const Socket& listening, std::chrono::nanoseconds limit);

}  // namespace bench
