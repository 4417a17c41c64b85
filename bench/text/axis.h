// Lists of the command line: the values of one swept parameter, sizes, words; and counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The parts between the separators, at least one; empty ones too.
std::vector<std::string_view> split(std::string_view text, char at);

// Whole numbers of at least 1, separated by commas: single values ("1,2,4") and ranges, "1:256:x2" (times 2)
// or "8:64:+8" (plus 8). A range holds its end only where a step lands on it. Sorted, each value once.
// `option` is what the error names, such as "--batch". Throws UsageError for anything else, for ranges that
// fall or never grow, and beyond 10,000 values.
std::vector<std::int64_t> parse_axis(std::string_view option, std::string_view text);

// A whole number from `least` to `most`. Throws UsageError.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most);

// "4KiB,1MiB" or "1KiB:1GiB:x2", separated by commas; growing, each once. Throws UsageError naming `option`.
std::vector<std::int64_t> parse_sizes(std::string_view option, std::string_view text);

// Words separated by commas, each one of `accepted`, each once. Throws UsageError.
std::vector<std::string> parse_words(std::string_view option, std::string_view text,
                                     const std::vector<std::string>& accepted);

}  // namespace bench
