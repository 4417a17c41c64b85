// --benchmark_out: a second copy of the result, as Google Benchmark would write it.
#pragma once

#include <filesystem>

#include "bench/cli/options.h"
#include "bench/measure/result.h"

namespace bench {

// Before anything is measured. None does anything where the flag was not given; all throw UsageError.
// Refuses the path of the result or of a picture, and a folder that takes no files, as far as looking can
// tell: writes nothing, which serves a dry run too.
void check_benchmark_out(const BenchmarkFlags& flags, const std::filesystem::path& result);
// Refuses a file that cannot be written: tried with a temporary file in its folder.
void try_benchmark_out(const BenchmarkFlags& flags);

// Written to a temporary file and renamed, so that an older file is replaced whole or not at all.
void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document);

}  // namespace bench
