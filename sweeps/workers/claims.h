// The findings of the workers sweep, one function each; none where the evidence is missing.
#pragma once

#include <optional>
#include <vector>

#include "sweeps/workers/evidence.h"

namespace bench::sweeps {

// How many workers, and what they cost (recommendation.cpp).
std::optional<Finding> claim_recommendation(const Evidence& evidence);
std::optional<Finding> claim_pinning(const Evidence& evidence);

// How the consumer is fed at each count (feeding.cpp).
std::optional<Finding> claim_starvation(const Evidence& evidence);
std::optional<Finding> claim_knee(const Evidence& evidence);
std::optional<Finding> claim_simulated_knee(const Evidence& evidence);
std::optional<Finding> claim_simulation_error(const Evidence& evidence);
std::optional<Finding> claim_harm(const Evidence& evidence);
std::vector<Finding> claim_requirements(const Evidence& evidence);

// The limit of the loader (limits.cpp).
std::optional<Finding> claim_plateau(const Evidence& evidence);

// The cost of a sample (costs.cpp).
std::optional<Finding> claim_stages(const Evidence& evidence);
std::optional<Finding> claim_scaling(const Evidence& evidence);
std::optional<Finding> claim_slowdown(const Evidence& evidence);

}  // namespace bench::sweeps
