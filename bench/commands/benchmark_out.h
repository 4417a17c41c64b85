// --benchmark_out: a second copy of the result, as Google Benchmark would write it.
#pragma once

#include <filesystem>

#include "bench/cli/options.h"
#include "bench/measure/result.h"

namespace bench {

// These functions do nothing without the flag, and throw UsageError. The first two run before anything is
// measured.

// Refuses the path of the result or of a picture, and a folder without write permission. Writes nothing, so a
// dry run calls it too.
void check_benchmark_out(const BenchmarkFlags& flags, const std::filesystem::path& result);
// Refuses a file that cannot be written: tried with a temporary file in its folder.
void try_benchmark_out(const BenchmarkFlags& flags);

// Written to a temporary file and renamed, so that an older file is replaced whole or not at all.
void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document);

}  // namespace bench
