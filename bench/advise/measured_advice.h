// Advice from results: what limits the step as it is, and which changes of its settings pay. Settings are
// compared by the time of a sample. Changes combine in the model of the step (step_model.h): their
// percentages are never added.
#pragma once

#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"

namespace bench {

// Throws UsageError as StepModel does, and for a batch that the results do not hold. A batch of 0 becomes
// that of the workers result, else the smallest measured.
Advice advice_from(const StepModel& model, TrainingSettings current);

// Reads the files. Throws UsageError, one sentence with the file's name.
Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current);

}  // namespace bench
