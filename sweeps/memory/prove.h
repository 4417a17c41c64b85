// What the memory sweep tries on the device after its points: the largest batches, the memory over one step,
// and a long run.
#pragma once

#include "bench/sweep.h"

namespace bench::sweeps {

// Adds to document.sweep:
//   "limits"[…]["proof"]: {"largest_batch", "refused_batch", "probes", "tracked_bytes", "ran_a_step"}, or
//   {"not_tried": why}. The device's cap is set to the limit's: what passes it is refused, as a smaller
//   device would.
//   "step_memory": the plan's memory over one step of a measured point, training where there is some:
//   {"label", "point", "reserved_bytes", "names": […], "bytes": {category: […]}}.
//   "soak": see soak.h.
// Where the device is lost, the limit or the soak says so and DeviceLost passes; in the process that goes on,
// what an earlier one has tried comes from the study's `before` and is not tried again.
void prove_limits(SweepStudy& study);

}  // namespace bench::sweeps
