#include "bench/page/markdown.h"

#include <fmt/format.h>

#include "bench/page/page.h"
#include "bench/text/escape.h"

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

namespace {

struct MarkdownWriter {
  std::string below;  // a heading's mark

  std::string heading(const std::string& title) const {
    return title.empty() ? "" : fmt::format("{} {}\n\n", below, markdown_sentence(title));
  }

  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format(fmt::runtime(paragraph.strong ? "**{}**\n" : "{}\n"),
                       markdown_sentence(paragraph.text));
  }

  std::string operator()(const List& list) const {
    std::string text = list.folded
                           ? fmt::format("<details><summary>{}</summary>\n\n", markdown_sentence(list.title))
                           : heading(list.title);
    for (const ListItem& item : list.items) {
      text += fmt::format("- {}\n", markdown_sentence(item.text));
      for (const std::string& detail : item.details) {
        text += fmt::format("  - {}\n", markdown_sentence(detail));
      }
    }
    return text + (list.folded ? "\n</details>\n" : "");
  }

  std::string operator()(const TextTable& table) const {
    return heading(table.title) + markdown_table(table.rows, table.right) +
           (table.below.empty() ? "" : fmt::format("\n{}\n", markdown_sentence(table.below)));
  }
};

}  // namespace

std::string page_markdown(const Page& page, std::size_t heading) {
  const MarkdownWriter writer{std::string(heading + 1, '#')};
  std::string text = fmt::format("{} {}\n", std::string(heading, '#'), markdown_sentence(page.title));
  for (const Block& block : page.blocks) {
    text += "\n" + std::visit(writer, block);
  }
  return text;
}

}  // namespace bench
