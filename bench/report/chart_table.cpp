#include "bench/report/chart_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/text/units.h"

namespace bench::report {
namespace {

using plots::Axis;
using plots::BarLayer;
using plots::Bars;
using plots::Chart;
using plots::ChartPoint;
using plots::ChartSeries;
using plots::Curves;
using plots::Quantity;
using plots::Timeline;

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
    if (series.fitted) {
      continue;
    }
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
      if (series.fitted) {
        continue;
      }
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

double sum_of(const Bars& bars, std::size_t bar) {
  double sum = 0;
  for (const BarLayer& layer : bars.layers) {
    sum += layer.values.at(bar) ? layer.values.at(bar)->value : 0;
  }
  return sum;
}

// Bars that the table has, with their names: all of them; of many that follow each other in time the highest
// of each region.
std::vector<std::pair<std::string, std::size_t>> bars_to_list(const Bars& bars) {
  std::vector<std::pair<std::string, std::size_t>> listed;
  if (!bars.joined) {
    for (std::size_t i = 0; i < bars.categories.size(); ++i) {
      listed.emplace_back(bars.categories[i], i);
    }
    return listed;
  }
  for (const plots::BarRegion& region : bars.regions) {
    std::size_t highest = region.from;
    for (std::size_t i = region.from; i <= region.to; ++i) {
      highest = sum_of(bars, i) > sum_of(bars, highest) ? i : highest;
    }
    listed.emplace_back(fmt::format("{}, most at {}", region.name, bars.categories.at(highest)), highest);
  }
  return listed;
}

TextTable table_of(const Bars& bars, bool predicted) {
  TextTable table{.title = "", .rows = {{bars.label}}, .right = {!bars.joined}};
  for (const BarLayer& layer : bars.layers) {
    table.rows.front().push_back(layer.name);
    table.right.push_back(true);
  }
  if (bars.stacked) {
    table.rows.front().emplace_back("in all");
    table.right.push_back(true);
  }
  for (const auto& [name, bar] : bars_to_list(bars)) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(name);
    for (const BarLayer& layer : bars.layers) {
      const std::optional<Estimate>& value = layer.values.at(bar);
      row.push_back(value ? value_text(value->value, value->ci95, bars.y, predicted) : "");
    }
    if (bars.stacked) {
      const bool absent = std::ranges::find(bars.absent, bar) != bars.absent.end();
      row.push_back(absent ? "" : value_text(sum_of(bars, bar), std::nullopt, bars.y, predicted));
    }
  }
  return table;
}

// How long each row is busy with what, in all.
TextTable table_of(const Timeline& timeline, bool) {
  TextTable table{.title = "", .rows = {{""}}, .right = {false}};
  for (const plots::SpanKind& kind : timeline.kinds) {
    table.rows.front().push_back(kind.name);
    table.right.push_back(true);
  }
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{timeline.rows[i]});
    for (const plots::SpanKind& kind : timeline.kinds) {
      double sum = 0;
      for (const plots::Span& span : kind.spans) {
        sum += span.row == i ? span.to - span.from : 0;
      }
      row.push_back(sum > 0 ? value_text(sum, std::nullopt, timeline.x, false) : "");
    }
  }
  return table;
}

}  // namespace

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

}  // namespace bench::report
