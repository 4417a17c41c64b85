// Advice from results: what limits the step as it is, and which changes of its settings pay. Settings are
// compared by the time of a sample. Changes combine in the model of the step (step_model.h): their
// percentages are never added.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"

namespace bench {

// Throws UsageError as StepModel does, and for a batch that the results do not hold. A batch of 0 becomes
// that of the workers result, else the smallest measured. `cards`: numbers of them to consider.
Advice advice_from(const StepModel& model, TrainingSettings current,
                   const std::vector<std::int64_t>& cards = {});

}  // namespace bench
