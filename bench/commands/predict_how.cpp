#include "bench/commands/predict_how.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/page/columns.h"
#include "bench/run/embedded_files.h"
#include "bench/text/axis.h"
#include "bench/text/lines.h"

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

std::string code_below(std::string_view page, std::string_view heading) {
  std::string code;
  bool inside = false;
  for (const std::string_view line : lines_below(page, heading)) {
    if (line.starts_with(kFence)) {
      if (inside) {
        break;
      }
      inside = true;
    } else if (inside) {
      code += fmt::format("{}\n", line);
    }
  }
  return code;
}

std::string table_below(std::string_view page, std::string_view heading,
                        const std::vector<std::size_t>& shown, std::size_t width) {
  std::vector<Cells> rows;
  for (const std::string_view line : lines_below(page, heading)) {
    if (!line.starts_with('|')) {
      if (!rows.empty()) {
        break;
      }
      continue;
    }
    if (!line.starts_with("| ---")) {
      std::vector<std::string> cells = cells_of(line);
      Cells& row = rows.emplace_back();
      for (const std::size_t column : shown) {
        row.emplace_back(column < cells.size() ? cells[column] : "");
      }
    }
  }
  return rows.empty() ? "" : in_columns(rows, text_width(width));
}

std::string prediction_method(std::size_t width) {
  const std::string_view page = embedded_text("docs/predict-model.md");
  return wrap(
             "A step of eager PyTorch, from the card's data sheet and coefficients that are fitted to "
             "published "
             "measurements; flops, grads, bytes and tile are sums over the network's operations, a, g, b and "
             "q "
             "coefficients of their classes.",
             width, 0) +
         "\n" + code_below(page, "A step's time") + "\n" + code_below(page, "Memory of training") + "\n" +
         wrap(
             "How far it errs on chips that the fit has not seen: mean over a card's rows, then over cards "
             "(the "
             "best and the worst card). docs/predict-model.md explains each row.",
             width, 0) +
         "\n" + table_below(page, "How far it errs", {0, 1, 3, 4}, width);
}

}  // namespace bench
