// What the transfer sweep's points and studies prove.
#pragma once

#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// The verdicts first. Pure; called after every point, so it copes with few of them.
std::vector<Finding> transfer_findings(const ResultDocument& document);

}  // namespace bench::sweeps
