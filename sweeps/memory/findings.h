// One claim and its numbers for each finding on the memory sweep's measured series.
#pragma once

#include <optional>
#include <vector>

#include "bench/result/result.h"
#include "sweeps/series/findings.h"

namespace bench::sweeps {

// The memory line, with how far from proportional it is.
Finding claim_growing_memory(const BatchSeries& series);
// Where in a step memory peaks; nullopt where the plan does not tell.
std::optional<Finding> claim_peak(const BatchSeries& series);
// Weights, gradients and optimizer state as multiples of the weights, for each optimizer; nullopt without
// training in the dtype.
std::optional<Finding> claim_multiples(const std::vector<BatchSeries>& all, Dtype dtype);
// Memory of a sample in training and in inference, compared with its feature maps; nullopt where one of the
// two was not measured in the dtype.
std::optional<Finding> claim_activations(const std::vector<BatchSeries>& all, Dtype dtype);
// The system's count of memory, compared with the plan, and with the plan calibrated on two small batches.
std::optional<Finding> claim_system(const std::vector<BatchSeries>& all);

// A leak first, then the batches that fit, then the memory by cause. Of a file's findings too: throws
// Json::exception where their details are not as these claims have them.
void choose_memory_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
