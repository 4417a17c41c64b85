// --benchmark_out: a second copy of the result, as Google Benchmark would write it.
#pragma once

#include <filesystem>

#include "bench/cli/options.h"
#include "bench/measure/result.h"

namespace bench {

// Before anything is measured: that the file can be written and is not the result, or a picture, itself.
// Nothing where the flag was not given. Both throw UsageError.
void check_benchmark_out(const BenchmarkFlags& flags, const std::filesystem::path& result);

// Written beside its place and renamed, so that an older file is replaced whole or not at all.
void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document);

}  // namespace bench
