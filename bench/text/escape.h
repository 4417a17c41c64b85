// Foreign text within a format's own syntax. Each makes the text printable first: controls and bytes that are
// not UTF-8 are shown as escapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::size_t kLongestText = 500;  // characters

// For element content and attributes in quotes.
std::string xml_text(std::string_view text, std::size_t longest = kLongestText);
// For a cell or line of Markdown: every character that may be markup where it stands becomes an entity.
std::string markdown_text(std::string_view text, std::size_t longest = kLongestText);
// The message of a workflow command, and the value of one of its properties.
std::string command_message(std::string_view text, std::size_t longest = kLongestText);
std::string command_property(std::string_view text, std::size_t longest = kLongestText);

}  // namespace bench
