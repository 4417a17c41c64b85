// The short sweeps that `bench advise` runs itself where it is given no results.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/advise/advice.h"

namespace bench {

struct ShortSweeps {
  std::vector<std::string> workload;  // options of every sweep: "--workload", "resnet50"
  TrainingSettings current;           // a batch of 0 is left to the sweeps
  std::string device = "auto";
  std::chrono::nanoseconds time_budget = std::chrono::minutes(4);
  std::filesystem::path out;  // new or empty
};

// Each sweep is a child process; progress goes to standard error. Ctrl-C ends the running sweep and skips the
// rest. Returns the result files. Throws UsageError where a sweep is refused, with its last line.
std::vector<std::string> run_short_sweeps(const ShortSweeps& sweeps);

}  // namespace bench
