// Which batch fits below each memory cap, by plan: nothing is allocated and nothing runs.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/state.h"

namespace bench::sweeps {

// A series' batches are multiples of this: the micro-batches of a step.
std::int64_t batch_unit(const WorkloadSpec& spec);

// One for each series and cap, caps growing; a series that the device does not support has none.
std::vector<Limit> predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device);

}  // namespace bench::sweeps
