// Advice from results: what limits the step as it is, and which changes of its settings pay. Settings are
// compared by the time of a sample. Changes combine in the model of the step (step_model.h): their
// percentages are never added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"

namespace bench {

// Numbers of cards to consider, and what would join them.
struct SeveralCards {
  std::vector<std::int64_t> cards{};
  CardsLink link{};
  LinkCatalogue catalogue{};
};

// Throws UsageError as StepModel does, and for a batch that the results do not hold. A batch of 0 becomes
// that of the workers result, else the smallest measured. `cards`: numbers of them to consider.
Advice advice_from(const StepModel& model, TrainingSettings current,
                   const std::vector<std::int64_t>& cards = {});

// Reads the files. Throws UsageError, one sentence with the file's name.
Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current,
                           const std::optional<SeveralCards>& several = std::nullopt);

}  // namespace bench
