// Text in columns of a terminal: how wide UTF-8 is, cut, filled and wrapped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

// The width of what is no terminal: text has lines of 100 columns there, and a table's rows are whole, so
// that each is a line.
inline constexpr std::size_t kFileWidth = 1'000'000;

// Columns of text in a width; of a file's, 100 less what the caller has taken of it.
constexpr std::size_t text_width(std::size_t width) {
  constexpr std::size_t kUsual = 100;
  return width > kFileWidth / 2 ? kUsual - std::min(kUsual - 1, kFileWidth - std::min(width, kFileWidth))
                                : width;
}

// Characters, one column each: right for Latin, Greek and signs such as ±, not for wide scripts.
std::size_t columns(std::string_view text);

// Columns of the longest of its words.
std::size_t longest_word(std::string_view text);

// At most `width` columns; "…" at the end where something was cut.
std::string cut(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at spaces but not before "%"; a longer word gets a line of its
// own. Every line after the first starts with `indent` spaces, every one ends with a newline.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// `left`, then `text` wrapped to the right of `column`, or further left where a word would not fit. `text`
// starts on the next line if `left` is too long.
std::string hanging(std::string_view left, std::string_view text, std::size_t column, std::size_t width);

}  // namespace bench
