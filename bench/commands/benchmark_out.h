// --benchmark_out: a second copy of the result, as Google Benchmark would write it.
#pragma once

#include <filesystem>

#include "bench/cli/options.h"
#include "bench/result/result.h"

namespace bench {

// Both functions do nothing without the flag, and throw UsageError.

// Before anything is measured. Refuses the path of the result or of a picture, a folder without write
// permission, and a file that cannot be written. Tries that with a temporary file, but in a dry run.
void check_benchmark_out(const BenchmarkFlags& flags, const std::filesystem::path& result, bool dry_run);

// Written to a temporary file and renamed, so that an older file is replaced whole or not at all.
void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document);

}  // namespace bench
