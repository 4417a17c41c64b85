#include "bench/page/columns.h"
#include "bench/text/lines.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {
namespace {

using Rows = std::vector<Cells>;

constexpr std::size_t kGap = 2;  // between columns

struct ColumnWidth {
  std::size_t now = 0;    // as wide as its widest cell, until it is narrowed
  std::size_t least = 0;  // words stay whole where they take at most half of the line
};

// The place of a text in a column of figures that has nothing behind it, and so takes the rest of the line;
// the row's size where there is none.
std::size_t text_that_runs_on(const Cells& row, const std::vector<bool>& right) {
  std::size_t last = row.size();
  while (last > 0 && row[last - 1].text.empty()) {
    --last;
  }
  return last > 0 && right[last - 1] && !row[last - 1].is_figure ? last - 1 : row.size();
}

// Text is broken between words; figures are not.
std::vector<ColumnWidth> column_widths(const Rows& rows, const std::vector<bool>& right, std::size_t width) {
  std::vector<ColumnWidth> widths(right.size());
  for (const Cells& row : rows) {
    const std::size_t end = &row == &rows.front() ? row.size() : text_that_runs_on(row, right);
    for (std::size_t i = 0; i < end; ++i) {
      const Cell& cell = row[i];
      widths[i].now = std::max(widths[i].now, columns(cell.text));
      widths[i].least =
          std::max(widths[i].least,
                   cell.is_figure ? columns(cell.text) : std::min(longest_word(cell.text), width / 2));
    }
  }
  return widths;
}

// How many of the first columns tell the rows apart; 1 where all of them do not.
std::size_t key_columns(const Rows& rows, std::size_t all) {
  for (std::size_t keys = 1; keys < all; ++keys) {
    std::set<std::vector<std::string>> seen;
    const bool distinct = std::all_of(rows.begin() + 1, rows.end(), [&](const Cells& row) {
      std::vector<std::string> key;
      for (std::size_t i = 0; i < std::min(keys, row.size()); ++i) {
        key.push_back(row[i].text);
      }
      return seen.insert(std::move(key)).second;
    });
    if (distinct) {
      return keys;
    }
  }
  return 1;
}

// The columns that fit, left out in the order that columns.h states.
std::vector<std::size_t> columns_within(const Rows& rows, const std::vector<ColumnWidth>& widths,
                                        std::size_t width) {
  std::vector<std::size_t> shown(widths.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::size_t sum = 0;
  for (const ColumnWidth& column : widths) {
    sum += column.least + kGap;
  }
  if (rows.empty()) {
    return shown;
  }
  const std::size_t keys = key_columns(rows, widths.size());
  for (const bool stays : {false, true}) {
    for (std::size_t i = widths.size(); i > keys && sum > width + kGap; --i) {
      const Cell header = i - 1 < rows.front().size() ? rows.front()[i - 1] : Cell();
      if (header.stays == stays && !header.text.empty()) {
        sum -= widths[i - 1].least + kGap;
        std::erase(shown, i - 1);
      }
    }
  }
  return shown;
}

// The widest ones first.
void narrow(std::vector<ColumnWidth>& widths, const std::vector<std::size_t>& shown, std::size_t width) {
  std::size_t sum = kGap * (shown.size() - 1);
  for (const std::size_t i : shown) {
    sum += widths[i].now;
  }
  for (; sum > width; --sum) {
    ColumnWidth* widest = nullptr;
    for (const std::size_t i : shown) {
      ColumnWidth& column = widths[i];
      if (column.now > column.least && (widest == nullptr || column.now > widest->now)) {
        widest = &column;
      }
    }
    if (widest == nullptr) {
      return;
    }
    --widest->now;
  }
}

std::vector<std::string> cell_lines(const std::string& cell, std::size_t width) {
  if (columns(cell) <= width) {
    return {cell};
  }
  std::vector<std::string> lines;
  std::istringstream wrapped(wrap(cell, width, 0));
  for (std::string line; std::getline(wrapped, line);) {
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string table_of(const Rows& rows, const std::vector<std::size_t>& shown, const std::vector<bool>& right,
                     const std::vector<ColumnWidth>& widths, std::size_t width) {
  std::string text;
  for (const auto& row : rows) {
    std::size_t runs_on = &row == &rows.front() ? row.size() : text_that_runs_on(row, right);
    if (runs_on < row.size() && columns(row[runs_on].text) <= widths[runs_on].now) {
      runs_on = row.size();  // its column holds it
    }
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    std::size_t begin = 0;
    for (const std::size_t i : shown) {
      const bool takes_the_rest = i == runs_on && i < row.size();
      const std::size_t room =
          takes_the_rest ? std::max(width - std::min(width, begin), widths[i].now) : widths[i].now;
      cells.push_back(cell_lines(i < row.size() ? row[i].text : "", room));
      lines = std::max(lines, cells.back().size());
      begin += widths[i].now + kGap;
    }
    for (std::size_t number = 0; number < lines; ++number) {
      std::string line;
      for (std::size_t at = 0; at < shown.size(); ++at) {
        const std::size_t i = shown[at];
        const std::string cell = number < cells[at].size() ? cells[at][number] : "";
        line += at == 0 ? "" : std::string(kGap, ' ');
        line += right[i] && i != runs_on ? fmt::format("{:>{}}", cell, widths[i].now)
                                         : fmt::format("{:<{}}", cell, widths[i].now);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace

std::string in_columns(const std::vector<Cells>& rows, std::size_t width) {
  const std::vector<bool> right = figure_columns(rows);
  std::vector<ColumnWidth> widths = column_widths(rows, right, width);
  const std::vector<std::size_t> shown = columns_within(rows, widths, width);
  narrow(widths, shown, width);
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!std::ranges::binary_search(shown, i)) {
      const std::string& header = rows.front()[i].text;
      const std::size_t unit = header.find(", ");
      left_out.push_back(unit == std::string::npos
                             ? header
                             : fmt::format("{} ({})", header.substr(0, unit), header.substr(unit + 2)));
    }
  }
  const std::string text = table_of(rows, shown, right, widths, width);
  return left_out.empty()
             ? text
             : text +
                   wrap(fmt::format("A wider terminal also shows: {}.", fmt::join(left_out, ", ")), width, 2);
}

}  // namespace bench
