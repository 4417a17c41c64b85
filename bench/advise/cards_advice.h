// Advice from a result of `bench --sweep cards`: whether its ranks pay, what limits them, and which other
// setting of its file, or which number of cards beyond it, a sample takes less time with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/model/links.h"
#include "bench/model/parallel_step.h"

namespace bench {

// Numbers of cards to consider, and what would join them.
struct SeveralCards {
  std::vector<std::int64_t> cards{};
  CardsLink link{};
  LinkCatalogue catalogue{};
};

// Compared with the most ranks that its finding `cards` is on. `several`: numbers of cards that are predicted
// from its one rank. Throws UsageError naming the file where it has no such finding.
Advice advice_from_cards(const EvaluatedFile& file, const std::optional<SeveralCards>& several);

}  // namespace bench
