#include "bench/run/restart.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace bench {
namespace {

// "process id, points in error, nanoseconds". The id tells a successor from other programs that inherit the
// environment: it stays the same.
constexpr const char* kVariable = "BENCH_CONTINUES";

}  // namespace

std::optional<Continuation> take_continuation() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::istringstream fields(text);
  std::int64_t process = 0;
  std::size_t errors = 0;
  std::int64_t started_ns = 0;
  fields >> process >> errors >> started_ns;
  unsetenv(kVariable);
  if (!fields || process != getpid()) {
    return std::nullopt;
  }
  const auto since_boot =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(started_ns));
  return Continuation{errors, std::chrono::steady_clock::time_point(since_boot)};
}

std::string restart(const std::vector<std::string>& argv, const Continuation& continuation) {
  const std::chrono::nanoseconds started = continuation.started.time_since_epoch();
  const std::string state = fmt::format("{} {} {}", getpid(), continuation.errors, started.count());
  setenv(kVariable, state.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // execv changes none of them
  }
  arguments.push_back(nullptr);
  std::cout.flush();
  std::fflush(nullptr);
  execv("/proc/self/exe", arguments.data());
  const int error = errno;
  unsetenv(kVariable);
  return std::generic_category().message(error);
}

}  // namespace bench
