#include "bench/text/lines.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench {

std::size_t columns(std::string_view text) {
  const auto starts_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

// fmt counts a string's width and precision in characters, as columns() does.
std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  return width == 0 ? "" : fmt::format("{:.{}}…", text, width - 1);
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
      part = fmt::format("{:.{}}", word, width - columns(line));
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
    const std::string part = fmt::format("{:.{}}", text, room);
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
