// From the memory sweep's document to claims.
#pragma once

#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// Reads params, stats, plan and memory of the points; sweep.axes, sweep.limits, sweep.soak and
// sweep.memory_cap_bytes where they are there. For each series ("fp32 training with adam"), its label behind
// the name:
//   memory_line (bytes/sample, its steps, and how far from proportional), ceiling_batch; for each dtype
//   optimizer_multiple (ratio), activations_per_sample (bytes); peak (bytes) and largest_batch (samples; one
//   for each cap), system_memory (ratio), and memory_growth (bytes/step) after a soak.
std::vector<Finding> memory_findings(const ResultDocument& document);

}  // namespace bench::sweeps
