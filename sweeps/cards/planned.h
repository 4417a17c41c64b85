// What ranks could share out beyond what was run.
#pragma once

#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench::sweeps {

// Of each measured training step of several ranks that share out nothing: its memory with gradients,
// parameters and the optimizer on the host shared out. Planned, never run.
std::vector<PredictedPoint> planned_sharing(const ResultDocument& document);
// Of the most ranks with the largest batch; none where nothing is planned.
std::vector<TextTable> sharing_tables(const ResultDocument& document);

}  // namespace bench::sweeps
