// One sentence and its numbers for each finding of the memory sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {

struct MemorySeries {
  BatchSeries batches;
  std::string mode;
  std::string optimizer;  // empty in inference
};

// How memory grows against the batch: "16 times the batch takes 5.1 times the memory". Empty for one batch.
std::string proportion_in_words(const BatchSeries& series);

// What the optimizers hold beside the weights, as multiples of the weights, of one dtype; nullopt without
// training.
std::optional<Finding> claim_multiples(const std::vector<const MemorySeries*>& of_dtype);
// What a sample's activations take in training and in inference, against its feature maps; nullopt where
// either is missing.
std::optional<Finding> claim_activations(const MemorySeries* training, const MemorySeries* inference);
// Where the most is needed; nullopt where the plan does not tell.
std::optional<Finding> claim_peak(const ResultDocument& document, const MemorySeries& series);
// One for each cap, over all series.
std::vector<Finding> claim_largest(const ResultDocument& document);
inline constexpr double kUncalibrated = 0.05;  // the share by which a plan may be off without calibration

// What the system saw against the plan, and against the plan with what two small batches add to it.
std::optional<Finding> claim_system(const std::vector<MemorySeries>& all);
// Whether memory crept up.
std::vector<Finding> claim_growth(const ResultDocument& document);

}  // namespace bench::sweeps
