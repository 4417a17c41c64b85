#include "bench/page/cell.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {

Cell Cell::figure(std::string digits) {
  Cell cell(std::move(digits));
  cell.is_figure = true;
  return cell;
}

Cell Cell::staying(std::string header) {
  Cell cell(std::move(header));
  cell.stays = true;
  return cell;
}

Cell Cell::none() {
  return figure("–");
}

Cell Cell::bytes(std::int64_t bytes) {
  return bytes > 0 ? figure(format_bytes(bytes)) : none();
}

Cell Cell::share(double fraction) {
  return figure(format_percent(fraction));
}

Cell Cell::number(double value, const std::optional<Interval>& ci95) {
  return figure(plus_minus(value, ci95, kToInCell));
}

Cell Cell::time(double nanoseconds, const std::optional<Interval>& ci95) {
  return figure(plus_minus_duration(nanoseconds, ci95, kToInCell));
}

Cell Cell::rate(double per_second, std::string_view unit, const std::optional<Interval>& ci95) {
  return figure(plus_minus_rate(per_second, ci95, unit, kToInCell));
}

Cell Cell::times(double factor, const std::optional<Interval>& interval) {
  return figure(interval ? fmt::format("{:.2f} ({:.2f}–{:.2f})", factor, interval->low, interval->high)
                         : fmt::format("{:.2f}", factor));
}

Cell Cell::number80(double value, const Interval& interval80) {
  return figure(with_interval80(value, interval80, kToInCell));
}

Cell Cell::time80(double nanoseconds, const Interval& interval80) {
  return figure(with_interval80(nanoseconds, interval80, duration_scale(nanoseconds), "", kToInCell));
}

Cell Cell::rate80(double per_second, std::string_view unit, const Interval& interval80) {
  return figure(with_interval80(per_second, interval80, rate_scale(per_second), unit, kToInCell));
}

std::vector<bool> figure_columns(const std::vector<Cells>& rows) {
  std::vector<bool> right;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    right.resize(std::max(right.size(), rows[row].size()));
    for (std::size_t i = 0; row > 0 && i < rows[row].size(); ++i) {
      right[i] = right[i] || rows[row][i].is_figure;
    }
  }
  return right;
}

}  // namespace bench
