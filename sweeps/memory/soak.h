// A long run of each series, with the memory sampled along.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/studied.h"

namespace bench::sweeps {

// --soak; 0: none. Throws UsageError.
std::int64_t soak_steps(const SweepRequest& request);

// Adds to document.sweep "soak": [{"label", "point", "batch", "wanted_steps", "done_steps", "samples":
// [[step, driver bytes, tracked bytes], …]}], each with "ended_by" where an error ended it. Throws
// DeviceLost, with what there was noted.
void soak(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps);

}  // namespace bench::sweeps
