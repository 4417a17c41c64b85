// JSON text as a value, or one sentence on why it is not sound.
#pragma once

#include <cstddef>
#include <string_view>

#include "bench/json.h"

namespace bench {

// Copying and writing a value recurse into it, so that deep nesting would overflow the stack. Results reach a
// tenth of it.
inline constexpr std::size_t kDeepestJson = 100;
// A member is found by looking at one after the other. Results have a few dozen in an object, a history
// 2,000.
inline constexpr std::size_t kMostMembers = 10'000;
// Values in all, each of which takes 20 to 100 bytes of memory. The largest of results/reference has 40,000.
inline constexpr std::size_t kMostValues = 4'000'000;

// Throws UsageError, one sentence that begins with `name` ("run.json", "it"): the text is truncated, is not
// JSON, holds a number too large, brackets beyond kDeepestJson, more than kMostValues, an object of more than
// kMostMembers, or one that has a key twice.
Json parse_json(std::string_view text, std::string_view name);

}  // namespace bench
