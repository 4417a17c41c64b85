// A sweep's output when it starts and when it ends.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/measure/result.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"

namespace bench {

// One line: what runs, where, and for how long.
void print_start(const Options& options, const SweepRequest& request, const DeviceInfo& device);

// Findings, points and warnings, or the points as --benchmark_format asks.
void print_result(const Options& options, const ResultDocument& document,
                  const std::vector<TextTable>& tables);

// The result, its path, and the picture, which is drawn here; only that nothing was measured where the file
// was not written.
void print_summary(const Options& options, const std::string& sweep, const ResultDocument& document,
                   const std::vector<TextTable>& tables, const ResultFile& result);

}  // namespace bench
