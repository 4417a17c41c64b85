// What the workers sweep claims.
#pragma once

#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// Pure: from measured points and what was simulated, or from the latter alone.
std::vector<Finding> workers_findings(const ResultDocument& document);

}  // namespace bench::sweeps
