// A page as Markdown of GitHub.
#include <fmt/format.h>

#include "bench/page/chart_table.h"
#include "bench/page/page.h"
#include "bench/text/escape.h"

namespace bench {
namespace {

std::string markdown_sentence(std::string_view text) {
  constexpr std::size_t kLongestSentence = 2000;  // characters
  return markdown_text(text, kLongestSentence);
}

// A row may have fewer cells than the header.
std::string markdown_table(const std::vector<Cells>& rows) {
  constexpr std::size_t kMost = 1000;
  const std::vector<bool> right = figure_columns(rows);
  const std::size_t columns = rows.front().size();
  std::string text;
  for (std::size_t i = 0; i < rows.size() && i <= kMost; ++i) {
    for (std::size_t column = 0; column < columns; ++column) {
      text += fmt::format("| {} ",
                          column < rows[i].size() ? markdown_sentence(rows[i][column].text) : std::string());
    }
    text += "|\n";
    for (std::size_t column = 0; i == 0 && column < columns; ++column) {
      text += right[column] ? "| ---: " : "| --- ";
    }
    text += i == 0 ? "|\n" : "";
  }
  if (rows.size() > kMost + 1) {
    text += fmt::format("\nThe first {} of {} rows; the result file has all.\n", kMost, rows.size() - 1);
  }
  return text;
}

struct MarkdownWriter {
  std::string below;  // a heading's mark
  bool has_marks;     // of the page

  std::string heading(const std::string& title) const {
    return title.empty() ? "" : fmt::format("{} {}\n\n", below, markdown_sentence(title));
  }

  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format(fmt::runtime(paragraph.tone == Tone::answer ? "**{}**\n" : "{}\n"),
                       markdown_sentence(with_links(paragraph.text, paragraph.links)));
  }

  std::string operator()(const Warnings& block) const {
    return markdown_sentence(in_words(block.warnings, has_marks)) + "\n";
  }

  std::string operator()(const MoreTables& more) const { return markdown_sentence(in_words(more)) + "\n"; }

  std::string operator()(const List& list) const {
    std::string text = list.folded
                           ? fmt::format("<details><summary>{}</summary>\n\n", markdown_sentence(list.title))
                           : heading(list.title);
    std::size_t number = 0;
    for (const ListItem& item : list.items) {
      text += fmt::format("{} {}\n", list.numbered ? fmt::format("{}.", ++number) : "-",
                          markdown_sentence(with_links(item.text, item.links)));
      for (const std::string& detail : item.details) {
        text += fmt::format("  - {}\n", markdown_sentence(detail));
      }
    }
    text += list.below.empty() ? "" : fmt::format("\n{}\n", markdown_sentence(list.below));
    return text + (list.folded ? "\n</details>\n" : "");
  }

  std::string operator()(const FactList& list) const {
    std::string text = heading(list.title);
    for (const auto& [name, fact] : list.facts) {
      text += fmt::format("- {}\n", markdown_sentence(fmt::format("{}: {}", name, fact)));
    }
    return text;
  }

  std::string operator()(const TextTable& table) const {
    return heading(table.title) + markdown_table(table.rows) +
           (table.below.empty() ? "" : fmt::format("\n{}\n", markdown_sentence(table.below)));
  }

  std::string operator()(const Figure& figure) const {
    return figure.rows == 0 ? "" : (*this)(chart_table(figure.chart, figure.rows));
  }
};

}  // namespace

std::string page_markdown(const Page& page, std::size_t heading) {
  const MarkdownWriter writer{std::string(heading + 1, '#'), page.has_marks()};
  std::string text = page.title.empty()
                         ? ""
                         : fmt::format("{} {}\n", std::string(heading, '#'), markdown_sentence(page.title));
  for (const Block& block : page.blocks) {
    const std::string written = std::visit(writer, block);
    text += (text.empty() || written.empty() ? "" : "\n") + written;
  }
  for (const Page& section : page.sections) {
    text += "\n" + page_markdown(section, heading + 1);
  }
  return text;
}

}  // namespace bench
