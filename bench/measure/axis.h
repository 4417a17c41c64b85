// The values of one swept parameter, from text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::size_t kLargestAxis = 10'000;  // values

// Whole numbers of at least 1, separated by commas: single values ("1,2,4") and ranges, "1:256:x2" (times 2)
// or "8:64:+8" (plus 8). A range holds its end only where a step lands on it. Sorted, each value once.
// `option` is what the error names, such as "--batch". Throws UsageError for anything else, for ranges that
// fall or never grow, and beyond kLargestAxis values.
std::vector<std::int64_t> parse_axis(std::string_view option, std::string_view text);

}  // namespace bench
