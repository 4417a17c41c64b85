// Text in columns of a terminal: how wide UTF-8 is, cut, filled and wrapped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

// The width of what is no terminal.
inline constexpr std::size_t kFileWidth = 100;

// Of a terminal: wide characters such as 漢 take two, combining marks none, all others one.
std::size_t columns(std::string_view text);

// Columns of the longest of its words.
std::size_t longest_word(std::string_view text);

// At most `width` columns; "…" at the end where something was cut.
std::string cut(std::string_view text, std::size_t width);

// As above, cut where a word ends that is no number: its unit follows.
std::string cut_at_word(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at spaces but not before "%"; a longer word starts a line and is
// broken, behind a slash if it has one there. Every line after the first starts with `indent` spaces, every
// one ends with a newline.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// The text, wrapped, then a path or a command line in one piece, so that it can be copied: on the text's last
// line where that has room, else on the next. Then `after`, in the same way.
std::string wrap_with_whole(std::string_view text, std::string_view whole, std::string_view after,
                            std::size_t width);

// `left`, then `text` wrapped to the right of `column`, or further left where a word would not fit. `text`
// starts on the next line if `left` is too long; one that is wider than a line is broken behind a bar.
std::string hanging(std::string_view left, std::string_view text, std::size_t column, std::size_t width);

}  // namespace bench
