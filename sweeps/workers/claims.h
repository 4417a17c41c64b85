// The findings of the workers sweep, one function each; none where the evidence is missing.
#pragma once

#include <optional>
#include <vector>

#include "sweeps/workers/evidence.h"

namespace bench::sweeps {

// How many workers, and what they cost (recommendation.cpp).
std::optional<Finding> recommended_finding(const Evidence& evidence);
std::optional<Finding> pinning_finding(const Evidence& evidence);

// How the consumer is fed at each count (feeding.cpp).
std::optional<Finding> starvation_finding(const Evidence& evidence);
std::optional<Finding> knee_finding(const Evidence& evidence);
std::optional<Finding> simulated_knee_finding(const Evidence& evidence);
std::optional<Finding> simulation_error_finding(const Evidence& evidence);
std::optional<Finding> harm_finding(const Evidence& evidence);
std::vector<Finding> requirement_findings(const Evidence& evidence);

// The limit of the loader (limits.cpp).
std::optional<Finding> plateau_finding(const Evidence& evidence);

// The cost of a sample (costs.cpp).
std::optional<Finding> stages_finding(const Evidence& evidence);
std::optional<Finding> scaling_finding(const Evidence& evidence);
std::optional<Finding> slowdown_finding(const Evidence& evidence);

}  // namespace bench::sweeps
