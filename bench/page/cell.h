// Cells of tables. What a cell holds decides its digits, its unit and its side, here for all tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

struct Cell {
  std::string text{};
  bool is_figure = false;  // set to the right, as its column then is, and not broken into lines
  bool stays = false;      // of a header: a narrow terminal leaves its column out after all others

  Cell() = default;
  Cell(std::string words) : text(std::move(words)) {}
  Cell(std::string_view words) : text(words) {}
  Cell(const char* words) : text(words) {}
  Cell(std::integral auto count) : text(std::to_string(count)), is_figure(true) {}

  static Cell figure(std::string digits);  // any other
  static Cell none();                      // "–"
  static Cell bytes(std::int64_t bytes);   // "1.23 GiB"; "–" for none at all
  static Cell share(double fraction);      // "87 %"
  static Cell number(double value, const std::optional<Interval>& ci95 = {});      // "33.1 ± 1.9"
  static Cell time(double nanoseconds, const std::optional<Interval>& ci95 = {});  // "8.0 ± 0.4 ms"
  static Cell rate(double per_second, std::string_view unit, const std::optional<Interval>& ci95 = {});
  static Cell times(double factor, const std::optional<Interval>& interval = {});  // "1.66 (0.82–10.76)"
  // Of predictions: "980 (840–1150)", "8.0 (7.5–9.1) ms", "12.3 (10.0–15.1) GB/s".
  static Cell number80(double value, const Interval& interval80);
  static Cell time80(double nanoseconds, const Interval& interval80);
  static Cell rate80(double per_second, std::string_view unit, const Interval& interval80);

  // The header of what the reader came for: a total, a price.
  static Cell staying(std::string header);

  // "≥ 12 ms".
  Cell after(std::string_view mark) const { return figure(std::string(mark) + text); }

  // Of its text; a figure and a text are the same.
  bool operator==(const Cell& other) const { return text == other.text; }
};

using Cells = std::vector<Cell>;

// Of each column, whether a cell below the header is a figure.
std::vector<bool> figure_columns(const std::vector<Cells>& rows);

}  // namespace bench
