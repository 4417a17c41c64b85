// A user's text as a message may repeat it: in one line, and short.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::size_t kLongestQuote = 60;  // characters

// Control characters, those that turn the writing direction, and bytes that are not UTF-8 become escapes (\n,
// \t, \r, \x1b); a text of more than `longest` characters is cut there and ends with "…".
std::string printable(std::string_view text, std::size_t longest = kLongestQuote);

// The same JSON with those characters as "\u202e", which a terminal only shows.
std::string inert_json(std::string_view json);

// All of it: what is copied must not be cut.
std::string printable_path(const std::filesystem::path& path);

// printable() between apostrophes: 'net5'.
std::string quote(std::string_view text);

}  // namespace bench
