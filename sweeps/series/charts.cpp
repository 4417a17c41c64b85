#include "sweeps/series/charts.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

// 95 % of a measured point, 80 % of a predicted one.
std::optional<Interval> interval_of(const BatchPoint& point) {
  if (point.predicted == nullptr) {
    return point.throughput.ci95;
  }
  return inverse({.value = point.predicted->step_ns, .ci95 = point.predicted->interval80_ns},
                 point.predicted->items_per_step * 1e9)
      .ci95;
}

bool predicted(const BatchSeries& series) {
  return !series.points.empty() && series.points.front().predicted != nullptr;
}

// Of the file, as all other words on the page: a newer program may compute another.
std::optional<double> saturation_of(const BatchSeries& series, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.name == "ceiling_batch" || finding.name == "ceiling_batch/" + series.label) {
      return finding.value;
    }
  }
  return std::nullopt;
}

report::ChartSeries curve_of(const BatchSeries& series, const std::vector<Finding>& findings) {
  const std::size_t colour = report::colour_of_dtype(name_of(series.params.dtype));
  report::ChartSeries curve{.name = series.label, .points = {}, .colour = colour, .shape = colour};
  if (const auto saturation = saturation_of(series, findings)) {
    curve.name += fmt::format(", saturates at batch {}", *saturation);
  }
  curve.band = predicted(series);
  for (const BatchPoint& point : series.points) {
    curve.points.push_back({.x = static_cast<double>(point.batch),
                            .y = point.throughput.per_s,
                            .interval = interval_of(point),
                            .open = point.few_rounds || point.contended});
  }
  return curve;
}

// At the peak: by category, or all as one where a file has no categories.
report::Bars memory_bars(const BatchSeries& series) {
  report::Bars bars{.label = "batch",
                    .y = {.label = "B", .quantity = report::Quantity::bytes},
                    .categories = {},
                    .layers = {}};
  for (const BatchPoint& point : series.points) {
    bars.categories.push_back(std::to_string(point.batch));
  }
  for (const MemoryCategory category : kMemoryCategories) {
    report::BarLayer layer{
        .name = std::string(name_of(category)), .values = {}, .colour = report::colour_of(category)};
    bool any = false;
    for (const BatchPoint& point : series.points) {
      const std::int64_t bytes = std::max<std::int64_t>(point.memory.by_category[category], 0);
      any = any || bytes > 0;
      layer.values.emplace_back(Estimate{.value = static_cast<double>(bytes)});
    }
    if (any) {
      bars.layers.push_back(std::move(layer));
    }
  }
  return bars;
}

double highest(const BatchSeries& series) {
  double most = 0;
  for (const BatchPoint& point : series.points) {
    most = std::max(most, static_cast<double>(point.memory.by_category.total()));
  }
  return most;
}

}  // namespace

report::Chart throughput_chart(const std::vector<BatchSeries>& all, const std::vector<Finding>& findings) {
  report::Curves curves{
      .x = {.label = "batch", .scale = report::AxisScale::log2}, .y = {.label = "samples/s"}, .series = {}};
  for (const BatchSeries& series : all) {
    curves.series.push_back(curve_of(series, findings));
  }
  const bool is_predicted = std::ranges::any_of(all, predicted);
  const bool open = keep_telling_marks(curves);
  return {.title = "Throughput against batch",
          .content = std::move(curves),
          .intervals = is_predicted ? "Band: 80 % interval of the prediction." : "Bars: 95 % intervals.",
          .note = open ? "Open marks: fewer than 3 rounds, or other processes used the CPU." : ""};
}

std::vector<report::Chart> memory_charts(const std::vector<BatchSeries>& all,
                                         std::optional<std::int64_t> cap_bytes) {
  constexpr double kRoom = 1.6;  // a cap further above the bars would flatten them
  double top = 0;
  for (const BatchSeries& series : all) {
    top = std::max(top, highest(series));
  }
  const double cap = cap_bytes ? static_cast<double>(*cap_bytes) : 0;
  std::vector<report::Chart> charts;
  for (const BatchSeries& series : all) {
    if (highest(series) <= 0) {
      continue;
    }
    report::Bars bars = memory_bars(series);
    bars.top = cap > 0 && cap <= kRoom * top ? std::max(cap, top) : top;
    if (cap > 0) {
      bars.levels.push_back({fmt::format("cap {}", format_bytes(*cap_bytes)), cap});
    }
    charts.push_back(
        {.title = "Memory, " + series.label, .content = std::move(bars), .note = "At the peak of a step."});
  }
  return charts;
}

}  // namespace bench::sweeps
