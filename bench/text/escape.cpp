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

bool is_alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// ":tada:", but not "08:27:55".
bool starts_emoji(std::string_view text, std::size_t colon) {
  std::size_t end = colon + 1;
  bool any_letter = false;
  for (; end < text.size() &&
         (is_alphanumeric(text[end]) || text[end] == '_' || text[end] == '+' || text[end] == '-');
       ++end) {
    any_letter = any_letter || std::isalpha(static_cast<unsigned char>(text[end])) != 0;
  }
  const bool is_closed = end > colon + 1 && end < text.size() && text[end] == ':';
  return is_closed && (any_letter || colon == 0 || !is_alphanumeric(text[colon - 1]));
}

// Whether Markdown may read character i as markup where it stands.
bool may_be_markup(std::string_view text, std::size_t i) {
  constexpr std::string_view kPlain = " /+-,%()=;?'\"";  // no markup within a line
  const char c = text[i];
  const char before = i == 0 ? ' ' : text[i - 1];
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  switch (c) {
    case '.':
      return before == 'w' || before == 'W';  // "www.…"
    case ':':
      return next == '/' || starts_emoji(text, i);  // "https:/…"
    case '_':
      return !is_alphanumeric(before) || !is_alphanumeric(next);  // within a word it is none
    case '[':
      return i == 0 || next == '^';  // a task, a link's definition, a footnote
    case ']':
      return next == '(' || next == '[' || next == ':';  // a link
    default:
      return static_cast<unsigned char>(c) < 0x80 && !is_alphanumeric(c) &&
             kPlain.find(c) == std::string_view::npos;
  }
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
  std::string out;
  const std::string shown = printable(text, longest);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    out += may_be_markup(shown, i) ? fmt::format("&#{};", static_cast<unsigned char>(c)) : std::string(1, c);
    out += c == '@' || c == '#' ? "&#8203;"
                                : "";  // a space of no width: "@name" and "#1" become links otherwise
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
