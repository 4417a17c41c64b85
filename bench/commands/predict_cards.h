// `bench predict --from RESULT --cards 2,4,8 --link NAME`: training on several cards, from one card's result.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/cli/command.h"

namespace bench {

// The words of `bench predict`, whose options are given too, where --cards is among them. `width`: of the
// page. Throws UsageError.
ExitCode run_predict_cards(const CommandWords& words, const std::vector<Option>& options, std::size_t width);

// The options of `bench predict` that only this has.
std::vector<Option> predict_cards_options();

}  // namespace bench
