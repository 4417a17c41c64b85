// What ranks could share out beyond what was run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench::sweeps {

// `whole_optimizer`: bytes of the optimizer's state of one rank that shares out nothing, from the plan; steps
// that share it out are left out without it.

// Of each measured training step of several ranks: its memory with gradients, parameters and the optimizer on
// the host shared out. Planned, never run.
std::vector<Point> planned_sharing(const ResultDocument& document,
                                   std::optional<std::int64_t> whole_optimizer);
// Of the most ranks with the largest batch; none where nothing is planned.
std::vector<TextTable> sharing_tables(const ResultDocument& document,
                                      std::optional<std::int64_t> whole_optimizer);

}  // namespace bench::sweeps
