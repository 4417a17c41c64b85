#include "bench/commands/predict_how.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/result/embedded_files.h"
#include "bench/text/axis.h"

namespace bench {
namespace {

constexpr std::string_view kFence = "```";

// The lines from the heading to the next of its level.
std::vector<std::string_view> lines_below(std::string_view page, std::string_view heading) {
  const std::string start = fmt::format("## {}", heading);
  std::vector<std::string_view> lines;
  bool inside = false;
  for (const std::string_view line : split(page, '\n')) {
    if (line.starts_with("## ")) {
      inside = line == start;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::string_view trimmed(std::string_view cell) {
  const std::size_t first = std::min(cell.find_first_not_of(" `"), cell.size());
  cell.remove_prefix(first);
  const std::size_t last = cell.find_last_not_of(" `");
  return cell.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// "| a | b |" is a, b.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  const std::vector<std::string_view> parts = split(line, '|');
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    cells.emplace_back(trimmed(parts[i]));
  }
  return cells;
}

}  // namespace

std::vector<std::string> formulas_below(std::string_view page, std::string_view heading) {
  std::vector<std::string> formulas;
  bool inside = false;
  for (const std::string_view line : lines_below(page, heading)) {
    if (line.starts_with(kFence)) {
      if (inside) {
        break;
      }
      inside = true;
    } else if (inside) {
      formulas.emplace_back(line);
    }
  }
  return formulas;
}

TextTable table_below(std::string_view page, std::string_view heading,
                      const std::vector<std::size_t>& shown) {
  TextTable table;
  for (const std::string_view line : lines_below(page, heading)) {
    if (!line.starts_with('|')) {
      if (!table.rows.empty()) {
        break;
      }
      continue;
    }
    if (!line.starts_with("| ---")) {
      std::vector<std::string> cells = cells_of(line);
      Cells& row = table.rows.emplace_back();
      for (const std::size_t column : shown) {
        row.emplace_back(column < cells.size() ? cells[column] : "");
      }
    }
  }
  return table;
}

Page prediction_method() {
  const std::string_view document = embedded_text("docs/predict-model.md");
  Page page;
  page.say(
      "A step of eager PyTorch, from the card's data sheet and coefficients that are fitted to published "
      "measurements; flops, grads, bytes and tile are sums over the network's operations, a, g, b and q "
      "coefficients of their classes.");
  page.sentences("A step's time", formulas_below(document, "A step's time"));
  page.sentences("Memory of training", formulas_below(document, "Memory of training"));
  page.say(
      "How far it errs on chips that the fit has not seen: mean over a card's rows, then over cards (the "
      "best and the worst card). docs/predict-model.md explains each row.");
  page.table(table_below(document, "How far it errs", {0, 1, 3, 4}));
  return page;
}

}  // namespace bench
