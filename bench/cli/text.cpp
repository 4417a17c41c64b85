#include "bench/cli/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {
namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  std::string kept;
  std::size_t used = 0;
  for (const char byte : text) {
    // One column stays free for the sign that something is missing.
    if (starts_character(byte) && ++used >= width) {
      break;
    }
    kept += byte;
  }
  return width == 0 ? "" : kept + "…";
}

std::string pad_left(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ').append(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text).append(width - std::min(width, columns(text)), ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::string line;
  bool empty = true;  // no word in the line yet
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
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
    line += word;
    empty = false;
  }
  return lines + line + "\n";
}

std::string hanging(std::string_view left, std::string_view text, std::size_t column, std::size_t width) {
  const bool fits = columns(left) + 2 <= column;
  std::string lines = fits ? pad_right(left, column) : std::string(left) + "\n" + std::string(column, ' ');
  for (const char byte : wrap(text, width - column, 0)) {
    lines += byte;
    if (byte == '\n') {
      lines.append(column, ' ');
    }
  }
  lines.erase(lines.size() - column);
  return lines;
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths(right.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : "  ") + (right[i] ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string value_name(const CommandOption& option) {
  if (option.words) {
    return fmt::format("{}", fmt::join(option.words(), "|"));
  }
  const std::string& usual = option.default_value;
  const std::size_t digits = std::min(usual.find_first_not_of("0123456789"), usual.size());
  if (digits == usual.size()) {
    return "N";
  }
  const std::string unit = usual.substr(digits);
  const bool size = digits > 0 && unit.back() == 'B';
  return unit.find(',') != std::string::npos ? "LIST" : size ? "SIZE" : "VALUE";
}

}  // namespace bench
