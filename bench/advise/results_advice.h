// Advice from result files. A result of the cards sweep is answered alone; other sweeps' results together, by
// a model of the step (step_model.h): settings are compared by the time of a sample, and changes combine in
// the model, so that their percentages are never added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/model/links.h"
#include "bench/model/parallel_step.h"

namespace bench {

// Where each sweep has one result a machine, of a fleet, leaves those of the machine whose points take the
// median time; of an even number the slower of the two in the middle. Returns sentences: which it is, how far
// the others are from it, and which is unlike the rest. Throws UsageError where that machine lacks a sweep
// that others have. Other files are left as they are.
std::vector<std::string> keep_median_machine(std::vector<EvaluatedFile>& files);

// What limits the step as it is, and which changes of its settings pay. Throws UsageError as StepModel does,
// and for a batch that the results do not hold. A batch of 0 becomes that of the workers result, else the
// smallest measured. `cards`: numbers of them to consider.
Advice advice_from(const StepModel& model, TrainingSettings current,
                   const std::vector<std::int64_t>& cards = {});

// Numbers of cards to consider, and what would join them.
struct SeveralCards {
  std::vector<std::int64_t> cards{};
  CardsLink link{};
  LinkCatalogue catalogue{};
};

// Of a result of `bench --sweep cards`: whether its ranks pay, what limits them, and which other setting of
// its file, or which number of cards beyond it, a sample takes less time with. Compared with the most ranks
// that its finding `cards` is on. `several`: numbers of cards that are predicted from its one rank. Throws
// UsageError naming the file where it has no such finding.
Advice advice_from_cards(const EvaluatedFile& file, const std::optional<SeveralCards>& several);

// Reads the files. Throws UsageError, one sentence with the file's name.
Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current,
                           const std::optional<SeveralCards>& several = std::nullopt);

}  // namespace bench
