// Pictures of the kernels sweep in a report: what memory and caches deliver, and operations below their
// roofline.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/text/units.h"
#include "sweeps/kernels/answer.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {
namespace {

// One series for each key, in the order of their first points.
class SeriesByName {
 public:
  plots::ChartSeries& of(const std::string& name, std::size_t colour, std::size_t shape) {
    const auto found = std::ranges::find(all_, name, &plots::ChartSeries::name);
    return found != all_.end() ? *found
                               : all_.emplace_back(plots::ChartSeries{
                                     .name = name, .points = {}, .colour = colour, .shape = shape});
  }
  std::vector<plots::ChartSeries>& all() { return all_; }

 private:
  std::vector<plots::ChartSeries> all_;
};

plots::Chart bandwidth_chart(const std::vector<KernelResult>& points) {
  SeriesByName series;
  std::map<std::string, std::size_t> colours;  // by the stream kernel
  for (const KernelResult& point : points) {
    if (point.is_stream() && point.bytes > 0) {
      const std::size_t colour = colours.try_emplace(point.mode, colours.size()).first->second;
      plots::ChartSeries& own =
          series.of(fmt::format("{}, {} caches", point.mode, point.cold ? "cold" : "hot"),
                    colour % plots::kSeriesColours, point.cold ? 1 : 0);
      const Estimate rate = point.bandwidth();
      own.dashed = point.cold;
      own.points.push_back({.x = point.bytes, .y = rate.value, .interval = rate.ci95});
    }
  }
  for (plots::ChartSeries& own : series.all()) {
    std::ranges::sort(own.points, {}, &plots::ChartPoint::x);
  }
  return {.title = "What memory and caches deliver, read and written",
          .content = plots::Curves{.x = {.label = "bytes touched",
                                         .quantity = plots::Quantity::bytes,
                                         .scale = plots::AxisScale::log2},
                                   .y = {.label = "B/s", .quantity = plots::Quantity::per_second},
                                   .series = std::move(series.all())}};
}

// The roof of a dtype over the intensities that are drawn: memory's slope, then its peak.
plots::ChartSeries roof_of(const std::string& dtype, double peak, double bandwidth, double first,
                           double last) {
  plots::ChartSeries roof{.name = fmt::format("roof of {}: {}", dtype, format_rate(peak, "FLOP/s")),
                          .points = {},
                          .colour = plots::colour_of_dtype(dtype),
                          .marks = false};
  const double ridge = bandwidth > 0 ? peak / bandwidth : first;
  std::set<double> places{first, std::clamp(ridge, first, last), last};
  for (const double x : places) {
    roof.points.push_back({.x = x, .y = bandwidth > 0 ? std::min(peak, x * bandwidth) : peak});
  }
  return roof;
}

plots::Chart roofline_chart(const std::vector<KernelResult>& points, const Roofline& roofline) {
  SeriesByName series;
  std::map<std::string, std::size_t> shapes;
  double first = INFINITY;
  double last = 0;
  for (const KernelResult& point : points) {
    if (point.flops <= 0 || point.bytes <= 0 || point.is_stream() || point.above_peak) {
      continue;
    }
    first = std::min(first, point.intensity());
    last = std::max(last, point.intensity());
    const std::size_t shape = shapes.try_emplace(point.workload, shapes.size()).first->second;
    plots::ChartSeries& own = series.of(fmt::format("{} {}", point.workload, point.dtype),
                                        plots::colour_of_dtype(point.dtype), shape);
    own.line = false;
    const Estimate rate = point.rate();
    own.points.push_back({.x = point.intensity(),
                          .y = rate.value,
                          .interval = rate.ci95,
                          .name = point.short_name(),
                          .open = point.cold});
  }
  std::vector<plots::ChartSeries> all;
  for (const auto& [dtype, peak] : last > 0 ? roofline.compute : decltype(roofline.compute){}) {
    const double bandwidth = roofline.memory ? roofline.memory->rate.value : 0;
    const double from = bandwidth > 0 ? std::min(first, 0.5 * peak.rate.value / bandwidth) : first / 2;
    const double to = bandwidth > 0 ? std::max(last, 2 * peak.rate.value / bandwidth) : last * 2;
    all.push_back(roof_of(dtype, peak.rate.value, bandwidth, from, to));
  }
  const bool any_cold = std::ranges::any_of(series.all(), [](const plots::ChartSeries& own) {
    return std::ranges::any_of(own.points, &plots::ChartPoint::open);
  });
  if (!series.all().empty()) {
    all.insert(all.end(), series.all().begin(), series.all().end());
  }
  return {.title = "Roofline: arithmetic against operations for each byte moved",
          .content = plots::Curves{.x = {.label = "FLOP for each byte", .scale = plots::AxisScale::log10},
                                   .y = {.label = "FLOP/s",
                                         .quantity = plots::Quantity::per_second,
                                         .scale = plots::AxisScale::log10},
                                   .series = std::move(all)},
          .note = any_cold ? "Open marks: cold caches." : ""};
}

std::vector<plots::Chart> kernels_charts(ResultDocument& document) {
  const std::vector<KernelResult> points = read_results(document);
  std::vector<plots::Chart> charts{roofline_chart(points, roofline_in(document, {})),
                                   bandwidth_chart(points)};
  if (!modelled_points(document).empty()) {
    for (plots::Chart& chart : charts) {
      chart.note = "Roofs are of the data sheet.";
    }
  }
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "kernels",
     .choose_headlines =
         [](ResultDocument& document) {
           choose_kernels_headlines(kernels_answer(document, {}), document.findings);
         },
     .charts = kernels_charts}};

}  // namespace
}  // namespace bench::sweeps
