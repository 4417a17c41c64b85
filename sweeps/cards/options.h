// What the command line asks of the cards sweep. Every function throws UsageError.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench::sweeps {

bool is_strong(const SweepRequest& request);
bool is_split(const SweepRequest& request);
// Numbers of ranks; by default powers of two up to those that were started, and that number.
std::vector<std::int64_t> counts_in(const SweepRequest& request);
std::int64_t bucket_in(const SweepRequest& request);  // bytes
// Of every point, in their order.
std::vector<WorkloadSpec> specs_in(const SweepRequest& request);

}  // namespace bench::sweeps
