#include "bench/report/chart.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "bench/measure/finding.h"
#include "bench/measure/units.h"

namespace bench::report {
namespace {

constexpr double kMostBytes = 0x1p62;

// "12.3 (10.0 to 15.1) GB/s" of a prediction.
std::string scaled_interval80(double value, const Interval& interval, const Scale& scale,
                              std::string_view unit) {
  return fmt::format("{} {}{}",
                     with_interval80(value / scale.by, {interval.low / scale.by, interval.high / scale.by}),
                     scale.prefix, unit);
}

TextTable curves_by_x(const Curves& curves, bool predicted) {
  TextTable table{.title = "", .rows = {{curves.x.label}}, .right = {true}};
  std::set<double> places;
  for (const ChartSeries& series : curves.series) {
    table.rows.front().push_back(series.name);
    table.right.push_back(true);
    for (const ChartPoint& point : series.points) {
      places.insert(point.x);
    }
  }
  for (const double x : places) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(value_text(x, std::nullopt, curves.x, false));
    for (const ChartSeries& series : curves.series) {
      const auto at = std::ranges::find(series.points, x, &ChartPoint::x);
      row.push_back(at == series.points.end() ? "" : value_text(at->y, at->interval, curves.y, predicted));
    }
  }
  return table;
}

TextTable curves_by_point(const Curves& curves, bool predicted) {
  TextTable table{.title = "",
                  .rows = {{"series", "point", curves.x.label, curves.y.label}},
                  .right = {false, false, true, true}};
  for (const ChartSeries& series : curves.series) {
    for (const ChartPoint& point : series.marks ? series.points : std::vector<ChartPoint>{}) {
      table.rows.push_back({series.name, point.name, value_text(point.x, std::nullopt, curves.x, false),
                            value_text(point.y, point.interval, curves.y, predicted)});
    }
  }
  return table;
}

TextTable table_of(const Curves& curves, bool predicted) {
  const bool named = std::ranges::any_of(curves.series, [](const ChartSeries& series) {
    return std::ranges::any_of(series.points, [](const ChartPoint& point) { return !point.name.empty(); });
  });
  return named ? curves_by_point(curves, predicted) : curves_by_x(curves, predicted);
}

TextTable table_of(const Bars& bars, bool predicted) {
  TextTable table{.title = "", .rows = {{bars.label}}, .right = {true}};
  for (const BarLayer& layer : bars.layers) {
    table.rows.front().push_back(layer.name);
    table.right.push_back(true);
  }
  if (bars.stacked) {
    table.rows.front().emplace_back("in all");
    table.right.push_back(true);
  }
  for (std::size_t i = 0; i < bars.categories.size(); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(bars.categories[i]);
    double sum = 0;
    for (const BarLayer& layer : bars.layers) {
      const std::optional<Estimate>& value = layer.values.at(i);
      sum += value ? value->value : 0;
      row.push_back(value ? value_text(value->value, value->ci95, bars.y, predicted) : "");
    }
    if (bars.stacked) {
      row.push_back(value_text(sum, std::nullopt, bars.y, predicted));
    }
  }
  return table;
}

}  // namespace

std::size_t colour_of(MemoryCategory category) {
  return kCategoryColour + static_cast<std::size_t>(category);
}

std::size_t colour_of_dtype(std::string_view dtype) {
  return dtype == "fp32"   ? 0
         : dtype == "bf16" ? 1
         : dtype == "fp16" ? 2
         : dtype == "tf32" ? 3
                           : kSeriesColours - 1;
}

std::string value_text(double value, const std::optional<Interval>& interval, const Axis& axis,
                       bool predicted) {
  switch (axis.quantity) {
    case Quantity::bytes:
      return format_bytes(std::llround(std::clamp(value, 0.0, kMostBytes)));
    case Quantity::duration:
      return predicted && interval ? scaled_interval80(value, *interval, duration_scale(value), "")
                                   : plus_minus_duration(value, interval);
    case Quantity::per_second:
      return predicted && interval ? scaled_interval80(value, *interval, rate_scale(value), axis.label)
                                   : plus_minus_rate(value, interval, axis.label);
    case Quantity::number:
      break;
  }
  if (std::trunc(value) == value && !interval && std::abs(value) < 1e15) {  // a count
    return fmt::format("{:.0f}", value);
  }
  return predicted && interval ? with_interval80(value, *interval) : plus_minus(value, interval);
}

TextTable chart_table(const Chart& chart, std::size_t most) {
  TextTable table =
      std::visit([&](const auto& content) { return table_of(content, chart.predicted); }, chart.content);
  if (table.rows.size() > most + 1) {
    const std::size_t more = table.rows.size() - 1 - most;
    table.rows.resize(most + 1);
    table.rows.push_back({fmt::format("and {} more rows", more)});
  }
  return table;
}

bool keep_telling_marks(Curves& curves) {
  std::size_t all = 0;
  std::size_t open = 0;
  for (const ChartSeries& series : curves.series) {
    all += series.marks ? series.points.size() : 0;
    open += static_cast<std::size_t>(std::ranges::count(series.points, true, &ChartPoint::open));
  }
  if (10 * open <= 9 * all) {
    return open > 0;
  }
  for (ChartSeries& series : curves.series) {
    for (ChartPoint& point : series.points) {
      point.open = false;
    }
  }
  return false;
}

bool is_empty(const Chart& chart) {
  if (const auto* const curves = std::get_if<Curves>(&chart.content)) {
    return std::ranges::all_of(curves->series,
                               [](const ChartSeries& series) { return series.points.empty(); });
  }
  return std::get<Bars>(chart.content).categories.empty();
}

}  // namespace bench::report
