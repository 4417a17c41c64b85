// The workload whose steps the verdict is about.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench::sweeps {

// Those asked for; else one that makes a step short: 4 on a CPU, 32 elsewhere.
std::vector<std::int64_t> studied_batches(const SweepRequest& request, const Device& device);

WorkloadSpec studied_step(const SweepRequest& request, std::int64_t batch);

// Throws UsageError where a step of it cannot be asked for, so that this is known before anything is
// measured.
void check_studied(const SweepRequest& request, const Device& device);

}  // namespace bench::sweeps
