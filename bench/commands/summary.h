// What a sweep prints when it ends.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// The points and findings, as --benchmark_format asks.
void print_points(const Options& options, const ResultDocument& document,
                  const std::vector<TextTable>& tables);

// The points, the result's path and the picture, which is drawn here.
void print_summary(const Options& options, const std::string& sweep, const ResultDocument& document,
                   const std::vector<TextTable>& tables, const std::filesystem::path& result);

}  // namespace bench
