// Which batch fits below each memory cap, by plan: nothing is allocated and nothing runs.
#pragma once

#include <cstdint>

#include "bench/sweep.h"

namespace bench::sweeps {

// The batches a series can have are multiples of this: the micro-batches of a step.
std::int64_t batch_unit(const WorkloadSpec& spec);

// Into document.sweep["limits"], one entry for each series and cap:
//   label, params (without batch), cap_bytes; fixed_bytes: weights, gradients and optimizer state;
//   smallest_batch and smallest_bytes; largest_batch that the plan puts below the cap (0: none), its
//   largest_bytes; next_bytes, of the next larger one; safe_batch, the largest that uses less than 90 %;
//   setup_bytes, held while getting ready.
// A series that the device does not support has no entry. The caps stand in growing order.
void predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device,
                    ResultDocument& document);

}  // namespace bench::sweeps
