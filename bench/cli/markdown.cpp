#include "bench/cli/markdown.h"

#include <fmt/format.h>

#include "bench/compare/escape.h"

namespace bench {

std::string markdown_sentence(std::string_view text) {
  constexpr std::size_t kLongestSentence = 2000;  // characters
  return markdown_text(text, kLongestSentence);
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                           std::size_t most) {
  if (rows.empty()) {
    return "";
  }
  const std::size_t columns = rows.front().size();
  std::string text;
  for (std::size_t i = 0; i < rows.size() && i <= most; ++i) {
    for (std::size_t column = 0; column < columns; ++column) {
      text +=
          fmt::format("| {} ", column < rows[i].size() ? markdown_sentence(rows[i][column]) : std::string());
    }
    text += "|\n";
    for (std::size_t column = 0; i == 0 && column < columns; ++column) {
      text += column < right.size() && right[column] ? "| ---: " : "| --- ";
    }
    text += i == 0 ? "|\n" : "";
  }
  if (rows.size() > most + 1) {
    text += fmt::format("\nThe first {} of {} rows; the result file has all.\n", most, rows.size() - 1);
  }
  return text;
}

std::string markdown_list(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += fmt::format("- {}\n", markdown_sentence(sentence));
  }
  return text;
}

}  // namespace bench
