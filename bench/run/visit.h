// One visit to a point: a run of samples, executed by Google Benchmark with manual time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/workload.h"

namespace bench {

struct Visit {
  std::vector<std::int64_t> samples_ns;  // one a step, in order; fewer than asked for when interrupted
  std::vector<Json> notes;               // of each sample, where the workload has something to say
  double cpu_time_ns = 0;                // processor time of all threads, mean of a step
};

// Times `samples` steps one by one. Google Benchmark gets a fixed iteration count, so it enters the step's
// function once. With cold caches the device forgets what it holds before every step, outside the time taken.
// Rethrows what a step throws.
Visit run_visit(const std::string& name, Workload& workload, Device& device, std::int64_t samples,
                bool cold_caches = false);

}  // namespace bench
