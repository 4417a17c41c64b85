// An advice as text for people and as data.
#pragma once

#include <cstddef>
#include <string>

#include "bench/advise/advice.h"

namespace bench {

// The bottleneck, the budget of a step, the changes that pay, tables, and what would tell more.
std::string advice_text(const Advice& advice, std::size_t width);
std::string advice_markdown(const Advice& advice);
// Times in nanoseconds; intervals of 90 %.
Json advice_json(const Advice& advice);

}  // namespace bench
