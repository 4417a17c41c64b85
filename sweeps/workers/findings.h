// The answer of the workers sweep in words: findings and tables.
#pragma once

#include <vector>

#include "bench/sweep.h"
#include "sweeps/workers/answer.h"

namespace bench::sweeps {

std::vector<Finding> workers_findings(const Evidence& evidence);
std::vector<TextTable> workers_tables(const Evidence& evidence);
// Required throughputs first, then the recommendation; how sure it is last. Of a file's findings too.
void choose_workers_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
