// --cards and --link: how many cards train together, and what joins them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/measure/result.h"
#include "bench/model/parallel_step.h"

namespace bench {

// --link, --per-host and --bucket.
std::vector<CommandArgument> link_options();

// Throws UsageError where one of them is given without --cards.
void refuse_link_without_cards(const CommandWords& words);

// --cards, which is given. Throws UsageError.
std::vector<std::int64_t> cards_of(const CommandWords& words);

// What the three options say of cards whose step was measured or predicted on a device of this kind. Throws
// UsageError where --link is missing or not known.
CardsLink link_of(const CommandWords& words, const std::string& device_kind);

// Errors name the option. Throws UsageError.
ResultDocument read_named_result(const std::string& option, const std::string& path);

}  // namespace bench
