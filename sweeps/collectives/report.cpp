// The collectives sweep's headlines and picture in a report.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "sweeps/collectives/findings.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

std::vector<report::Chart> collectives_charts(ResultDocument& document) {
  parse_params(document, read_collective_params);
  report::Curves curves{
      .x = {.label = "bytes", .quantity = report::Quantity::bytes, .scale = report::AxisScale::log2},
      .y = {.label = "B/s", .quantity = report::Quantity::per_second, .scale = report::AxisScale::log10},
      .series = {}};
  for (const CollectiveSeries& series : collective_series(document)) {
    const std::size_t place = curves.series.size();
    report::ChartSeries& curve = curves.series.emplace_back(
        report::ChartSeries{.name = fmt::format("{}, {} ranks", series.label(), series.ranks),
                            .points = {},
                            .colour = place,
                            .shape = place});
    for (const SizePoint& point : series.points) {
      const Estimate rate = inverse(point.ns, point.moved * 1e9);
      curve.points.push_back(
          {.x = point.bytes, .y = rate.value, .interval = rate.ci95, .open = !point.mark.empty()});
    }
  }
  return {{.title = "Bus bandwidth between ranks",
           .content = std::move(curves),
           .intervals = "Bars: 95 % intervals."}};
}

const Registration<report::SweepReport> collectives_report{
    {.name = "collectives", .choose_headlines = choose_collectives_headlines, .charts = collectives_charts}};

}  // namespace
}  // namespace bench::sweeps
