#include "bench/commands/wait_policy.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/cli/terminal.h"
#include "bench/commands/resume.h"
#include "bench/host/host_info.h"

namespace bench {
namespace {

// The process id, which tells the program that was started again from others that inherit the environment.
constexpr const char* kBusyVariable = "BENCH_CORES_ARE_BUSY";
// Set in the runs of one comparison.
constexpr const char* kSettledVariable = "BENCH_WAIT_POLICY_IS_SETTLED";

}  // namespace

bool wait_policy_is_open() {
  constexpr std::array kChosenBy{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", kSettledVariable};
  return std::ranges::all_of(kChosenBy, [](const char* variable) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
    return std::getenv(variable) == nullptr;
  });
}

void settle_wait_policy(const Clock& clock) {
  if (wait_policy_is_open() && others_want_cores(host_info().usable_cores, clock)) {
    setenv("OMP_WAIT_POLICY", "passive", 1);
  }
  setenv(kSettledVariable, "1", 1);
}

void sleep_in_barriers_if_busy(const std::vector<std::string>& argv, const std::optional<CpuTimes>& before,
                               const Clock& clock) {
  constexpr std::chrono::milliseconds kWindow(100);
  constexpr double kMuch = 0.5;  // cores
  if (!before || !wait_policy_is_open()) {
    return;
  }
  clock.sleep_until(before->at + kWindow);
  const auto after = cpu_times_now(clock);
  if (!after || !others_want_cores(*before, *after, host_info().usable_cores, kMuch)) {
    return;
  }
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv(kBusyVariable, std::to_string(::getpid()).c_str(), 1);
  start_again(argv);
  unsetenv("OMP_WAIT_POLICY");  // it could not be started, or an interrupt came: this process goes on
  unsetenv(kBusyVariable);
}

bool take_busy_cores() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  const char* const process = std::getenv(kBusyVariable);
  const bool busy = process != nullptr && process == std::to_string(::getpid());
  unsetenv(kBusyVariable);
  return busy;
}

void say_cores_are_busy(bool verbose) {
  std::cerr << notice(
      STDERR_FILENO,
      verbose ? "Other programs use the cores, so this run's threads sleep while they wait for each other "
                "(OMP_WAIT_POLICY=passive), which makes steps 11 to 20 % slower on an idle machine; set "
                "OMP_WAIT_POLICY=active to keep them spinning."
              : "Other programs use the cores: this run's threads sleep while they wait (why: --verbose).");
}

}  // namespace bench
