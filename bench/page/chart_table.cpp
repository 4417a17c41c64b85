#include "bench/page/chart_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/text/units.h"

namespace bench {
namespace {

constexpr double kMostBytes = 0x1p62;

TextTable curves_by_x(const plots::Curves& curves, bool predicted) {
  TextTable table{.rows = {{curves.x.label}}};
  std::set<double> places;
  for (const plots::ChartSeries& series : curves.series) {
    if (series.fitted) {
      continue;
    }
    table.rows.front().emplace_back(series.name);
    for (const plots::ChartPoint& point : series.points) {
      places.insert(point.x);
    }
  }
  for (const double x : places) {
    Cells& row = table.rows.emplace_back();
    row.push_back(value_cell(x, std::nullopt, curves.x, false));
    for (const plots::ChartSeries& series : curves.series) {
      if (series.fitted) {
        continue;
      }
      const auto at = std::ranges::find(series.points, x, &plots::ChartPoint::x);
      row.push_back(at == series.points.end() ? Cell()
                                              : value_cell(at->y, at->interval, curves.y, predicted));
    }
  }
  return table;
}

TextTable curves_by_point(const plots::Curves& curves, bool predicted) {
  TextTable table{.rows = {{"series", "point", curves.x.label, curves.y.label}}};
  for (const plots::ChartSeries& series : curves.series) {
    for (const plots::ChartPoint& point : series.marks ? series.points : std::vector<plots::ChartPoint>{}) {
      table.rows.push_back({series.name, point.name, value_cell(point.x, std::nullopt, curves.x, false),
                            value_cell(point.y, point.interval, curves.y, predicted)});
    }
  }
  return table;
}

bool has_names(const plots::Curves& curves) {
  return std::ranges::any_of(curves.series, [](const plots::ChartSeries& series) {
    return std::ranges::any_of(series.points,
                               [](const plots::ChartPoint& point) { return !point.name.empty(); });
  });
}

TextTable table_of(const plots::Curves& curves, bool predicted) {
  return has_names(curves) ? curves_by_point(curves, predicted) : curves_by_x(curves, predicted);
}

double sum_of(const plots::Bars& bars, std::size_t bar) {
  double sum = 0;
  for (const plots::BarLayer& layer : bars.layers) {
    sum += layer.values.at(bar) ? layer.values.at(bar)->value : 0;
  }
  return sum;
}

// Bars that the table has, with their names: all of them; of many that follow each other in time the highest
// of each region.
std::vector<std::pair<std::string, std::size_t>> bars_to_list(const plots::Bars& bars) {
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

TextTable table_of(const plots::Bars& bars, bool predicted) {
  TextTable table{.rows = {{bars.label}}};
  for (const plots::BarLayer& layer : bars.layers) {
    table.rows.front().emplace_back(layer.name);
  }
  if (bars.stacked) {
    table.rows.front().emplace_back("in all");
  }
  for (const auto& [name, bar] : bars_to_list(bars)) {
    Cells& row = table.rows.emplace_back();
    row.push_back(bars.joined ? Cell(name) : Cell::figure(name));
    for (const plots::BarLayer& layer : bars.layers) {
      const std::optional<Estimate>& value = layer.values.at(bar);
      row.push_back(value ? value_cell(value->value, value->ci95, bars.y, predicted) : Cell());
    }
    if (bars.stacked) {
      const bool absent = std::ranges::find(bars.absent, bar) != bars.absent.end();
      row.push_back(absent ? Cell() : value_cell(sum_of(bars, bar), std::nullopt, bars.y, predicted));
    }
  }
  return table;
}

// How long each row is busy with what, in all.
TextTable table_of(const plots::Timeline& timeline, bool) {
  TextTable table{.rows = {{""}}};
  for (const plots::SpanKind& kind : timeline.kinds) {
    table.rows.front().emplace_back(kind.name);
  }
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    Cells& row = table.rows.emplace_back(Cells{timeline.rows[i]});
    for (const plots::SpanKind& kind : timeline.kinds) {
      double sum = 0;
      for (const plots::Span& span : kind.spans) {
        sum += span.row == i ? span.to - span.from : 0;
      }
      row.push_back(sum > 0 ? value_cell(sum, std::nullopt, timeline.x, false) : Cell());
    }
  }
  return table;
}

// Of the table's cells; none where their column's header names it.
const plots::Axis* value_axis(const plots::Chart& chart) {
  if (const auto* const bars = std::get_if<plots::Bars>(&chart.content)) {
    return &bars->y;
  }
  const auto* const curves = std::get_if<plots::Curves>(&chart.content);
  return curves == nullptr || has_names(*curves) ? nullptr : &curves->y;
}

}  // namespace

Cell value_cell(double value, const std::optional<Interval>& interval, const plots::Axis& axis,
                bool predicted) {
  const bool is_predicted = predicted && interval;
  switch (axis.quantity) {
    case plots::Quantity::bytes:
      return Cell::figure(format_bytes(std::llround(std::clamp(value, 0.0, kMostBytes))));
    case plots::Quantity::duration:
      return is_predicted ? Cell::time80(value, *interval) : Cell::time(value, interval);
    case plots::Quantity::per_second:
      return is_predicted ? Cell::rate80(value, axis.label, *interval)
                          : Cell::rate(value, axis.label, interval);
    case plots::Quantity::number:
      break;
  }
  if (std::trunc(value) == value && !interval && std::abs(value) < 1e15) {
    return static_cast<std::int64_t>(value);
  }
  return is_predicted ? Cell::number80(value, *interval) : Cell::number(value, interval);
}

TextTable chart_table(const plots::Chart& chart, std::size_t most) {
  TextTable table =
      std::visit([&](const auto& content) { return table_of(content, chart.predicted); }, chart.content);
  // A figure's own unit is in its cell; of a plain number it is the axis's name.
  const plots::Axis* const axis = value_axis(chart);
  const bool has_unit = axis == nullptr || axis->quantity != plots::Quantity::number || axis->label.empty() ||
                        chart.title.find(axis->label) != std::string::npos;
  table.title = fmt::format("{}{}{}", chart.title, has_unit ? "" : fmt::format(", {}", axis->label),
                            chart.predicted ? " (predicted, not measured)" : "");
  if (table.rows.size() > most + 1) {
    const std::size_t more = table.rows.size() - 1 - most;
    table.rows.resize(most + 1);
    table.rows.push_back({fmt::format("and {} more rows (--format csv or json has all)", more)});
  }
  return table;
}

}  // namespace bench
