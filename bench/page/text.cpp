// A page for a terminal.
#include <limits>

#include "bench/cli/text.h"
#include "bench/measure/quote.h"
#include "bench/page/columns.h"
#include "bench/page/page.h"

namespace bench {
namespace {

std::string safe(std::string_view text) {
  return printable(text, std::numeric_limits<std::size_t>::max());
}

struct TextWriter {
  std::size_t width;

  std::string operator()(const Paragraph& paragraph) const { return wrap(safe(paragraph.text), width, 2); }

  std::string operator()(const List& list) const {
    std::string text = list.title.empty() ? "" : wrap(safe(list.title), width, 2);
    for (const ListItem& item : list.items) {
      text += wrap("* " + safe(item.text), width, 2);
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
           in_columns(rows, table.right, width);
  }
};

}  // namespace

std::string page_text(const Page& page, std::size_t width) {
  const TextWriter writer{width};
  std::string text = wrap(safe(page.title), width, 2);
  bool after_paragraph = false;
  for (const Block& block : page.blocks) {
    const bool is_paragraph = std::holds_alternative<Paragraph>(block);
    text += after_paragraph && is_paragraph ? "" : "\n";
    text += std::visit(writer, block);
    after_paragraph = is_paragraph;
  }
  return text;
}

}  // namespace bench
