#include "bench/text/quote.h"

#include <limits>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace bench {
namespace {

// Bytes of the UTF-8 character the text starts with; 0 where it starts with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  // C0, C1 and everything from F5 never occur in UTF-8.
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  return length;
}

// The controls below space, DEL, and those of a second set (U+0080 to U+009F) that terminals obey too.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

// Marks and overrides of the writing direction, and line separators: they would reorder or split the text
// around them. All have three bytes but U+061C.
bool reorders(std::string_view character) {
  constexpr auto kFirst = std::to_array<std::string_view>({"\u061C", "\u200E", "\u2028", "\u2066"});
  constexpr auto kLast = std::to_array<std::string_view>({"\u061C", "\u200F", "\u202E", "\u2069"});
  for (std::size_t i = 0; i < kFirst.size(); ++i) {  // UTF-8 sorts as its characters do
    if (character.size() == kFirst.at(i).size() && character >= kFirst.at(i) && character <= kLast.at(i)) {
      return true;
    }
  }
  return false;
}

std::string escaped(std::string_view bytes) {
  if (bytes == "\n") {
    return "\\n";
  }
  if (bytes == "\t") {
    return "\\t";
  }
  if (bytes == "\r") {
    return "\\r";
  }
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == longest) {
      return shown + "…";
    }
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    shown += length == 0 || is_control(character) || reorders(character) ? escaped(character)
                                                                         : std::string(character);
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string inert_json(std::string_view json) {
  std::string shown;
  while (!json.empty()) {
    const std::size_t length = std::max<std::size_t>(character_length(json), 1);
    const std::string_view character = json.substr(0, length);
    if (character == "\n" || !(is_control(character) || reorders(character))) {
      shown += character;
    } else {
      constexpr unsigned kSixBits = 0x3F;
      constexpr std::array<unsigned, 4> kOfFirst{0, 0x7F, 0x1F, 0x0F};
      unsigned code = static_cast<unsigned char>(character[0]) & kOfFirst.at(length);
      for (const char byte : character.substr(1)) {
        code = (code << 6U) | (static_cast<unsigned char>(byte) & kSixBits);
      }
      shown += fmt::format("\\u{:04x}", code);
    }
    json.remove_prefix(length);
  }
  return shown;
}

std::string printable_path(const std::filesystem::path& path) {
  return printable(path.string(), std::numeric_limits<std::size_t>::max());
}

std::string quote(std::string_view text) {
  return fmt::format("'{}'", printable(text));
}

}  // namespace bench
