// Google Benchmark under our points: its command line, one round's timings by its loop, its output formats.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/workload.h"

namespace bench {

// Hands Google Benchmark the `--benchmark_*` flags that this program does not read itself.
// Throws UsageError naming a flag it does not know.
void initialize_google_benchmark(const std::vector<std::string>& flags);

// The names that `filter` selects, by Google Benchmark's own rules: a regular expression found anywhere in
// the name, a leading '-' inverting it. Throws UsageError on a malformed expression.
std::vector<std::string> select_by_filter(const std::vector<std::string>& names, const std::string& filter);

// One repetition: one round's timings of one point, with manual time.
struct Repetition {
  std::vector<std::int64_t> samples_ns;  // one a step, in order; fewer than asked for when interrupted
  std::vector<std::shared_ptr<const SampleNote>> notes;  // one a sample, where the workload has any
  double cpu_time_ns = 0;                                // processor time of all threads, mean of a step
};

// Times `samples` steps one by one. Google Benchmark gets a fixed iteration count, so it enters the step's
// function once. With cold caches the device empties its caches before every step, outside the time taken.
// Rethrows what a step throws.
Repetition run_repetition(const std::string& name, Workload& workload, Device& device, std::int64_t samples,
                          bool cold_caches = false);

// Writes the measured points the way Google Benchmark would: one entry a round, as its
// repetitions. `format`: "console", "json" or "csv".
void write_google_benchmark(const ResultDocument& document, const std::string& format, std::ostream& out);

}  // namespace bench
