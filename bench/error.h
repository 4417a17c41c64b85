// The errors that cross rooms. Each message is one sentence a user can act on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench {

// Exit codes of the program (a contract, see docs/command-line.md).
enum class ExitCode : int {
  done = 0,
  regression = 1,
  usage = 2,
  inconclusive = 3,
  not_comparable = 4,
  interrupted = 130,
};

// Wrong usage or unreadable input: names the option, what was given and what is accepted. Exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Results that say nothing about each other: of other devices or other params. Exit 4.
class NotComparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A device refused an allocation: the device is full, or its cap is reached. A result, not a failure.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& what, std::int64_t bytes_requested)
      : std::runtime_error(what), requested(bytes_requested) {}
  std::int64_t requested;  // bytes
};

// The device or library lacks what the point asks for. A result, not a failure.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The device answers every further call of this process with an error, as after an illegal address in a
// kernel: the running point is in error, and the others need a fresh process.
class DeviceLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bench
