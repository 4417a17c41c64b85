// Google Benchmark's flags, taken out of the command line before its other options are read.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/option.h"
#include "bench/cli/options.h"

namespace bench {

// Those that a run obeys.
std::vector<Option> benchmark_options();

// Removes every `--benchmark_…` argument from `arguments`. Throws UsageError naming the flag, what was given
// and what is accepted.
BenchmarkFlags take_benchmark_flags(std::vector<std::string>& arguments);

}  // namespace bench
