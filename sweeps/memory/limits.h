// Which batch fits below each memory cap, by plan: nothing is allocated and nothing runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/state.h"

namespace bench::sweeps {

// A series' batches are multiples of this: the micro-batches of a step.
std::int64_t batch_unit(const WorkloadSpec& spec);

// Adds the limits that `limits` lacks: one for each series and cap, caps growing; a series that the device
// does not support has none. Returns how many are left out where `end` gave a reason before all were planned.
std::optional<LimitsLeftOut> predict_limits(const SweepRequest& request, const SweepPlan& plan,
                                            Device& device, const PlanningEnd& end,
                                            std::vector<Limit>& limits);

// Adds limits that an earlier process planned, without its proofs, where `state` has left them out.
void adopt_limits(const MemoryState& before, MemoryState& state);

}  // namespace bench::sweeps
