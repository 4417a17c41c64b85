// A page for a terminal.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/cli/text.h"
#include "bench/page/columns.h"
#include "bench/page/page.h"
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
    const std::string text = safe(paragraph.text);
    const std::size_t line = text_width(width);
    return paragraph.brief && columns(text) > line
               ? fmt::format("{}{}\n",
                             cut(text, std::max(line, 2 * kWhereTheRestIs.size()) - kWhereTheRestIs.size()),
                             kWhereTheRestIs)
               : wrap(text, width, 2);
  }

  std::string operator()(const List& list) const {
    std::string text = list.title.empty() || list.folded ? "" : wrap(safe(list.title), width, 2);
    for (const ListItem& item : list.items) {
      text += wrap((list.folded ? "" : "* ") + safe(item.text), width, 2);
      for (const std::string& detail : item.details) {
        text += "  " + wrap(safe(detail), width - 2, 4);
      }
    }
    return text;
  }

  std::string operator()(const TextTable& table) const {
    std::vector<std::vector<std::string>> rows = table.rows;
    for (std::vector<std::string>& row : rows) {
      for (std::string& cell : row) {
        cell = safe(cell);
      }
    }
    return (table.title.empty() ? "" : wrap(safe(table.title), width, 2)) +
           in_columns(rows, table.right, width) +
           (table.below.empty() ? "" : wrap(safe(table.below), width, 2));
  }
};

}  // namespace

std::string page_text(const Page& page, std::size_t width) {
  const TextWriter writer{width};
  std::string text = page.title.empty() ? "" : wrap(safe(page.title), width, 2);
  bool after_paragraph = false;
  for (const Block& block : page.blocks) {
    const bool is_paragraph = std::holds_alternative<Paragraph>(block);
    text += text.empty() || (after_paragraph && is_paragraph) ? "" : "\n";
    text += std::visit(writer, block);
    after_paragraph = is_paragraph;
  }
  return text;
}

}  // namespace bench
