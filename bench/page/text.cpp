// A page for a terminal.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/page/chart_table.h"
#include "bench/page/columns.h"
#include "bench/page/page.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

std::string safe(std::string_view text) {
  return printable(text, std::numeric_limits<std::size_t>::max());
}

struct TextWriter {
  std::size_t width;

  std::string operator()(const Paragraph& paragraph) const {
    constexpr std::string_view kWhereTheRestIs = " (--verbose)";
    const std::string text = safe(with_links(paragraph.text, paragraph.links));
    return paragraph.brief && columns(text) > width
               ? fmt::format("{}{}\n",
                             cut(text, std::max(width, 2 * kWhereTheRestIs.size()) - kWhereTheRestIs.size()),
                             kWhereTheRestIs)
               : wrap(text, width, 2);
  }

  std::string operator()(const List& list) const {
    std::string text = list.title.empty() || list.folded ? "" : wrap(safe(list.title), width, 2);
    std::size_t number = 0;
    for (const ListItem& item : list.items) {
      const std::string mark = list.folded ? "" : list.numbered ? fmt::format("{}. ", ++number) : "* ";
      text += wrap(mark + safe(with_links(item.text, item.links)), width, 2);
      for (const std::string& detail : item.details) {
        text += "  " + wrap(safe(detail), width - 2, 4);
      }
    }
    return text + (list.below.empty() ? "" : wrap(safe(list.below), width, 2));
  }

  std::string operator()(const FactList& list) const {
    std::string text = list.title.empty() ? "" : wrap(safe(list.title), width, 2);
    for (const auto& [name, fact] : list.facts) {
      text += wrap(safe(fmt::format("{}: {}", name, fact)), width, 2);
    }
    return text;
  }

  std::string operator()(const TextTable& table) const {
    std::vector<Cells> rows = table.rows;
    for (Cells& row : rows) {
      for (Cell& cell : row) {
        cell.text = safe(cell.text);
      }
    }
    return (table.title.empty() ? "" : wrap(safe(table.title), width, 2)) + in_columns(rows, width) +
           (table.below.empty() ? "" : wrap(safe(table.below), width, 2));
  }

  std::string operator()(const Figure& figure) const {
    return figure.rows == 0 ? "" : (*this)(chart_table(figure.chart, figure.rows));
  }
};

}  // namespace

std::string page_text(const Page& page, std::size_t width) {
  const TextWriter writer{width};
  std::string text = page.title.empty() ? "" : wrap(safe(page.title), width, 2);
  bool after_paragraph = false;
  for (const Block& block : page.blocks) {
    const std::string written = std::visit(writer, block);
    if (written.empty()) {
      continue;
    }
    const bool is_paragraph = std::holds_alternative<Paragraph>(block);
    text += (text.empty() || (after_paragraph && is_paragraph) ? "" : "\n") + written;
    after_paragraph = is_paragraph;
  }
  for (const Page& section : page.sections) {
    text += "\n" + page_text(section, width);
  }
  return text;
}

}  // namespace bench
