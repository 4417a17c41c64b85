// One claim and its numbers for each finding of the memory sweep.
#pragma once

#include <optional>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/memory/state.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {

// Which batches fit: one for each cap, over all series.
std::vector<Finding> claim_largest(const std::vector<Limit>& limits);
// Limits that were not planned; nullopt where all were.
std::optional<Finding> claim_left_out_limits(const MemoryState& state);
// Whether memory grows from step to step.
Finding claim_growth(const Soak& soak, const ResultDocument& document);

// The memory line, with how far from proportional it is.
Finding claim_growing_memory(const BatchSeries& series);
// Where in a step memory peaks; nullopt where the plan does not tell.
std::optional<Finding> claim_peak(const BatchSeries& series);
// Weights, gradients and optimizer state as multiples of the weights, for each optimizer of one dtype;
// nullopt without training.
std::optional<Finding> claim_multiples(const std::vector<const BatchSeries*>& of_dtype);
// Memory of a sample in training and in inference, compared with its feature maps; nullopt where one of the
// two was not measured.
std::optional<Finding> claim_activations(const std::vector<const BatchSeries*>& of_dtype);

inline constexpr double kUncalibrated = 0.05;  // the share by which a plan may be off without calibration

// The system's count of memory, compared with the plan, and with the plan calibrated on two small batches.
std::optional<Finding> claim_system(const std::vector<BatchSeries>& all);

}  // namespace bench::sweeps
