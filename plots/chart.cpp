#include "plots/chart.h"

#include <algorithm>

namespace bench::plots {

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

namespace {

bool has_intervals(const Chart& chart) {
  if (const auto* const curves = std::get_if<Curves>(&chart.content)) {
    return std::ranges::any_of(curves->series, [](const ChartSeries& series) {
      return std::ranges::any_of(series.points,
                                 [](const ChartPoint& point) { return point.interval.has_value(); });
    });
  }
  const auto* const bars = std::get_if<Bars>(&chart.content);
  return bars != nullptr && std::ranges::any_of(bars->layers, [](const BarLayer& layer) {
           return std::ranges::any_of(layer.values, [](const auto& value) { return value && value->ci95; });
         });
}

std::string intervals_of(const Chart& chart) {
  if (!has_intervals(chart)) {
    return "";
  }
  if (chart.intervals) {
    return *chart.intervals;
  }
  const auto* const curves = std::get_if<Curves>(&chart.content);
  const bool band = curves != nullptr && std::ranges::any_of(curves->series, &ChartSeries::band);
  return band              ? "Band: 80 % interval of the prediction."
         : chart.predicted ? "Bars: 80 % intervals."
                           : "Bars: 95 % intervals.";
}

bool has_crosses(const Chart& chart) {
  if (const auto* const curves = std::get_if<Curves>(&chart.content)) {
    return std::ranges::any_of(curves->series,
                               [](const ChartSeries& series) { return !series.absent.empty(); });
  }
  const auto* const bars = std::get_if<Bars>(&chart.content);
  return bars != nullptr && !bars->absent.empty();
}

}  // namespace

std::string caption_of(const Chart& chart) {
  std::string caption = intervals_of(chart);
  for (const std::string& sentence : {chart.note, std::string(has_crosses(chart) ? "✕: no value." : "")}) {
    caption += (caption.empty() || sentence.empty() ? "" : " ") + sentence;
  }
  return caption;
}

bool is_empty(const Chart& chart) {
  if (const auto* const curves = std::get_if<Curves>(&chart.content)) {
    return std::ranges::all_of(curves->series,
                               [](const ChartSeries& series) { return series.points.empty(); });
  }
  if (const auto* const bars = std::get_if<Bars>(&chart.content)) {
    return bars->categories.empty() || bars->layers.empty();
  }
  return std::get<Timeline>(chart.content).rows.empty();
}

}  // namespace bench::plots
