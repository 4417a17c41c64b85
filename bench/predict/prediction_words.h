// The sentences of a prediction.
#pragma once

#include <string>
#include <vector>

#include "bench/page/page.h"
#include "bench/predict/prediction.h"

namespace bench {

// "resnet50 (train) on t4 and rtx3060-12gb, predicted: eager PyTorch".
std::string subject_in_words(const Prediction& prediction);
// What takes most of a step; the JSON's "products" are "arithmetic" to a reader.
// In files: "products", "memory", "short kernels", "the host".
std::string most_time_of(const PredictedStep& step);
std::string most_time_in_words(const PredictedStep& step);
// At most five: the fastest in each dtype, what 16 bits gain, the largest batches.
std::vector<std::string> prediction_findings(const Prediction& prediction);
// What was not measured, and what is assumed that an option changes.
std::vector<Warning> prediction_warnings(const Prediction& prediction);
// What calibrated it, and what its memory is.
std::vector<std::string> prediction_notes(const Prediction& prediction);

}  // namespace bench
