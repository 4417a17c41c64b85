// A page for a terminal.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// The text in one line, cut at a word's end where it is longer, then the pointer to what it leaves out.
std::string one_line(std::string_view text, std::string_view pointer, std::size_t width) {
  return fmt::format("{}{}\n", cut_at_word(text, width - std::min(width, columns(pointer))), pointer);
}

// "Warning: A; B [do this]; C [do that]; 2 more (--verbose).", with as many as one line has room for.
std::string one_line(const std::vector<Warning>& warnings, bool with_marks, std::size_t width) {
  std::string longest;
  std::string text = "Warning: ";
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const Warning& warning = warnings[i];
    const std::size_t left = warnings.size() - 1 - i;
    text +=
        fmt::format("{}{}{}", i == 0 ? "" : "; ", safe(warning.brief.empty() ? warning.text : warning.brief),
                    with_marks && warning.is_marked ? " (○)" : "");
    const std::string action = warning.action.empty() ? "" : fmt::format(" [{}]", safe(warning.action));
    const std::string rest = left == 0 ? "." : fmt::format("; {} more (--verbose).", left);
    const auto fits = [&](const std::string& more) {
      return columns(text) + columns(more) + columns(rest) <= width;
    };
    if (fits(action) || (longest.empty() && fits(""))) {
      longest = fmt::format("{}{}{}\n", text, fits(action) ? action : "", rest);
    } else if (longest.empty()) {
      const std::string pointer = left == 0 ? " (--verbose)" : fmt::format("; {} more (--verbose)", left);
      longest = one_line(text, pointer, width);
    }
    text += left > 0 && warnings[i + 1].action == warning.action ? "" : action;
  }
  return longest;
}

struct TextWriter {
  std::size_t width;
  bool has_marks;  // of the page

  std::string operator()(const Paragraph& paragraph) const {
    const std::string text = safe(with_links(paragraph.text, paragraph.links));
    return paragraph.brief.empty() || columns(text) <= width
               ? wrap(text, width, 2)
               : one_line(safe(paragraph.brief), " (--verbose)", width);
  }

  std::string operator()(const Warnings& block) const {
    return block.is_brief ? one_line(block.warnings, has_marks, width)
                          : wrap(safe(in_words(block.warnings, has_marks)), width, 2);
  }

  std::string operator()(const MoreTables& more) const { return wrap(safe(in_words(more)), width, 2); }

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

namespace {

bool is_paragraph(const Block& block) {
  return std::holds_alternative<Paragraph>(block) || std::holds_alternative<Warnings>(block);
}

// Findings or the sentences in their place, which a reader looks for on the first line: the title stands
// below.
bool is_answer(const Block& block) {
  const auto* const paragraph = std::get_if<Paragraph>(&block);
  const auto* const list = std::get_if<List>(&block);
  return (paragraph != nullptr && paragraph->tone == Tone::answer) || (list != nullptr && list->is_answer);
}

}  // namespace

std::string page_text(const Page& page, std::size_t width) {
  const TextWriter writer{width, page.has_marks()};
  std::vector<Block> blocks = page.blocks;
  std::string text;
  if (!blocks.empty() && !page.title.empty() && is_answer(blocks.front())) {
    const auto below = std::ranges::find_if_not(blocks.begin() + 1, blocks.end(), [&](const Block& block) {
      return is_paragraph(blocks.front()) && is_paragraph(block);
    });
    blocks.insert(below, Paragraph{.text = page.title});
  } else if (!page.title.empty()) {
    text = wrap(safe(page.title), width, 2);
  }
  bool after_paragraph = false;
  for (const Block& block : blocks) {
    const std::string written = std::visit(writer, block);
    if (written.empty()) {
      continue;
    }
    const bool follows =
        (after_paragraph && is_paragraph(block)) || std::holds_alternative<MoreTables>(block);
    text += (text.empty() || follows ? "" : "\n") + written;
    after_paragraph = is_paragraph(block);
  }
  for (const Page& section : page.sections) {
    text += "\n" + page_text(section, width);
  }
  return text;
}

}  // namespace bench
