#include "bench/text/lines.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace bench {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// Unicode's East Asian wide and fullwidth characters, and pictures.
constexpr std::array<Range, 12> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0xA4CF},
                                       {0xA960, 0xA97C},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F64F},
                                       {0x1F680, 0x1F9FF},
                                       {0x20000, 0x3FFFD}}};
// Combining marks and joiners.
constexpr std::array<Range, 4> kNone{
    {{0x0300, 0x036F}, {0x200B, 0x200D}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}}};

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

// The first of a text that is not empty. A byte of no character counts as one.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80U) {
    return {};
  }
  const std::size_t length = lead < 0xC0U ? 1 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  std::size_t bytes = 1;
  for (; bytes < std::min(length, text.size()) && (byte(bytes) & 0xC0U) == 0x80U; ++bytes) {
    code = (code << 6U) | (byte(bytes) & 0x3FU);
  }
  const auto holds = [&](const Range& range) { return code >= range.first && code <= range.last; };
  return {.bytes = bytes,
          .columns = std::ranges::any_of(kNone, holds)   ? 0U
                     : std::ranges::any_of(kWide, holds) ? 2U
                                                         : 1U};
}

// As much of the text as has room in so many columns.
std::string_view front(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  for (std::size_t taken = 0; bytes < text.size();) {
    const Character next = first_of(text.substr(bytes));
    taken += next.columns;
    if (taken > width) {
      break;
    }
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    sum += next.columns;
    text.remove_prefix(next.bytes);
  }
  return sum;
}

std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  return width == 0 ? "" : fmt::format("{}…", front(text, width - 1));
}

namespace {

// A percent sign stays with its number.
std::size_t end_of_word(std::string_view text) {
  std::size_t end = text.find(' ');
  while (end != std::string_view::npos && end > 0 && text.substr(end).starts_with(" %")) {
    end = text.find(' ', end + 1);
  }
  return std::min(end, text.size());
}

}  // namespace

std::string cut_at_word(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  std::string kept;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = end_of_word(rest);
    const std::string_view word = rest.substr(0, end);
    const std::string_view all = text.substr(0, static_cast<std::size_t>(word.data() - text.data()) + end);
    if (columns(all) >= width) {
      break;
    }
    const bool is_number = word.find_first_not_of("0123456789.") == std::string_view::npos;
    kept = is_number ? kept : std::string(all);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // At the end of a clause, or before a bracket that stays open, where most of the text stands before it.
  for (const auto& [begins, ends] : {std::pair("; ", ""), {", ", ""}, {" (", ")"}, {" [", "]"}}) {
    const std::size_t at = kept.rfind(begins);
    const bool is_whole =
        *ends != '\0' && at != std::string::npos && kept.find(ends, at) != std::string::npos;
    kept.resize(at != std::string::npos && !is_whole && 2 * at >= kept.size() ? at : kept.size());
  }
  kept.erase(kept.find_last_not_of(" ,;:([") + 1);
  return kept.empty() ? cut(text, width) : kept + "…";
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    longest = std::max(longest, columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::string line;
  bool empty = true;  // no word in the line yet
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    if (!empty && columns(line) + 1 + columns(word) > width) {
      lines += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) {
      line += ' ';
    }
    for (std::string part; columns(line) + columns(word) > width && columns(line) < width;) {
      part = front(word, width - columns(line));
      if (part.empty()) {  // a wide character, and one column
        if (columns(line) <= indent) {
          break;
        }
        lines += line + "\n";
        line.assign(indent, ' ');
        continue;
      }
      const std::size_t slash = part.rfind('/');
      part.resize(slash == std::string::npos || slash == 0 ? part.size() : slash + 1);
      word.remove_prefix(part.size());
      lines += line + part + "\n";
      line.assign(indent, ' ');
    }
    line += word;
    empty = false;
  }
  return lines + line + "\n";
}

std::string wrap_with_whole(std::string_view text, std::string_view whole, std::string_view after,
                            std::size_t width) {
  std::string lines = columns(text) <= width ? fmt::format("{}\n", text) : wrap(text, width, 2);
  for (const std::string_view part : {whole, after}) {
    if (part.empty()) {
      continue;
    }
    lines.pop_back();
    const std::size_t line = columns(lines.substr(lines.rfind('\n') + 1));
    const bool fits = line + 1 + columns(part) <= width;
    lines += fmt::format("{}{}\n", fits ? " " : "\n  ", part);
  }
  return lines;
}

namespace {

// "--format a|b|" above "c|d".
std::string broken_behind_bars(std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 6;
  std::string lines;
  std::size_t room = width;
  while (columns(text) > room) {
    const std::string part(front(text, room));
    const std::size_t bar = part.rfind('|');
    if (bar == std::string::npos) {
      break;
    }
    lines += fmt::format("{}\n{:{}}", text.substr(0, bar + 1), "", kIndent);
    text.remove_prefix(bar + 1);
    room = width - std::min(width, kIndent);
  }
  return lines += text;
}

}  // namespace

std::string hanging(std::string_view left, std::string_view text, std::size_t column, std::size_t width) {
  constexpr std::size_t kLeast = 4;
  column = std::min(column, std::max(kLeast, width - std::min(width, longest_word(text))));
  const bool fits = columns(left) + 2 <= column;
  std::string lines = fits ? fmt::format("{:<{}}", left, column)
                           : fmt::format("{}\n{:{}}", broken_behind_bars(left, width), "", column);
  for (const char byte : wrap(text, width - column, 0)) {
    lines += byte;
    if (byte == '\n') {
      lines.append(column, ' ');
    }
  }
  lines.erase(lines.size() - column);
  return lines;
}

}  // namespace bench
