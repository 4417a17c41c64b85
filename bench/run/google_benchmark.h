// Google Benchmark's command line over our points: selection by its filter, and its own output formats.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench {

// Hands Google Benchmark the `--benchmark_*` flags that this program does not read itself.
// Throws UsageError naming a flag it does not know.
void initialize_google_benchmark(const std::vector<std::string>& flags);

// The names that `filter` selects, by Google Benchmark's own rules: a regular expression found anywhere in
// the name, a leading '-' inverting it. Throws UsageError on a malformed expression.
std::vector<std::string> select_by_filter(const std::vector<std::string>& names, const std::string& filter);

// Writes the measured points the way Google Benchmark would: one entry a round, as its
// repetitions. `format`: "console", "json" or "csv".
void write_google_benchmark(const ResultDocument& document, const std::string& format, std::ostream& out);

}  // namespace bench
