// Refuses a pipeline that cannot be simulated.
#pragma once

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

// Throws std::invalid_argument; see simulate().
void check(const Pipeline& pipeline);

}  // namespace bench::simulator
