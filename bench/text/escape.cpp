#include "bench/text/escape.h"

#include <cctype>

#include <fmt/format.h>

#include "bench/text/quote.h"

namespace bench {
namespace {

// XML 1.0 has no U+FFFE and U+FFFF, not even as a reference; printable() leaves both.
std::string without_noncharacters(std::string text) {
  for (const std::string_view character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(character); at != std::string::npos; at = text.find(character, at)) {
      text.replace(at, character.size(), "\xEF\xBF\xBD");
    }
  }
  return text;
}

std::string percent_encoded(std::string_view text, std::string_view encoded) {
  std::string out;
  for (const char c : text) {
    out += encoded.find(c) == std::string_view::npos ? std::string(1, c)
                                                     : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

std::string xml_text(std::string_view text, std::size_t longest) {
  std::string out;
  for (const char c : without_noncharacters(printable(text, longest))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text, std::size_t longest) {
  constexpr std::string_view kPlain = " /+-,.%()=:;";  // no markup within a line
  std::string out;
  char before = ' ';
  const std::string shown = printable(text, longest);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool starts_link = c == '.' && (before == 'w' || before == 'W');             // "www.…"
    const bool within_word = c == ':' && i + 1 < shown.size() && shown[i + 1] != ' ';  // "https:/…", ":tada:"
    const bool plain = byte >= 0x80 || std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos;
    out += plain && !starts_link && !within_word ? std::string(1, c) : fmt::format("&#{};", byte);
    out += c == '@' || c == '#' ? "&#8203;"
                                : "";  // a space of no width: "@name" and "#1" become links otherwise
    before = c;
  }
  return out;
}

std::string command_message(std::string_view text, std::size_t longest) {
  return percent_encoded(printable(text, longest), "%\r\n");
}

std::string command_property(std::string_view text, std::size_t longest) {
  return percent_encoded(printable(text, longest), "%\r\n:,");
}

}  // namespace bench
