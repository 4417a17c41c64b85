// Advice from result files. A result of the cards sweep is answered alone; other sweeps' results together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/cards_advice.h"

namespace bench {

// Reads the files. Throws UsageError, one sentence with the file's name.
Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current,
                           const std::optional<SeveralCards>& several = std::nullopt);

}  // namespace bench
