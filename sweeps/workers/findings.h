// Findings and tables of the workers sweep: how many workers, what they cost, what limits, how sure.
#pragma once

#include <vector>

#include "bench/sweep.h"
#include "sweeps/workers/evidence.h"

namespace bench::sweeps {

std::vector<Finding> workers_findings(const Evidence& evidence);
std::vector<TextTable> workers_tables(const Evidence& evidence);

}  // namespace bench::sweeps
