// The findings of the workers sweep: how many workers, what they cost, what limits, how sure.
#pragma once

#include <vector>

#include "sweeps/workers/evidence.h"

namespace bench::sweeps {

std::vector<Finding> workers_findings(const Evidence& evidence);

}  // namespace bench::sweeps
