// One repetition: one round's timings of one point, taken by Google Benchmark with manual time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/workload.h"

namespace bench {

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

}  // namespace bench
