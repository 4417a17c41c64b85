// Cost of the workers sweep's simulation.
#pragma once

namespace bench::peers {

// Nanoseconds for one batch through 8 workers in order, their times heavy-tailed; the worse of a fed and a
// starved consumer.
double ns_per_simulated_batch();

}  // namespace bench::peers
