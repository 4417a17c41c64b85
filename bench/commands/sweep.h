// `bench --sweep NAME`: measure, print table and findings, write the JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/error.h"

namespace bench {

// Throws UsageError. `argv` goes into the result file.
ExitCode run_sweep(const Options& options, const std::vector<std::string>& argv, const Clock& clock);

}  // namespace bench
