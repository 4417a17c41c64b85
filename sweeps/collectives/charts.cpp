// The collectives sweep's headlines and picture in a report.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/text/units.h"
#include "sweeps/collectives/answer.h"

namespace bench::sweeps {
namespace {

// ": latency 5.1 µs, 12.3 GB/s".
std::string model_in_words(const CollectiveSeries& series) {
  if (!series.has_model()) {
    return "";
  }
  const auto rate = series.bus_bytes_per_s();
  return fmt::format(": latency {}{}", format_duration(std::max(series.curve->latency_ns.value, 0.0)),
                     rate ? ", " + format_rate(rate->value, "B/s") : "");
}

std::vector<plots::Chart> collectives_charts(ResultDocument& document) {
  const plots::Axis bytes{
      .label = "bytes", .quantity = plots::Quantity::bytes, .scale = plots::AxisScale::log2};
  plots::Curves rates{
      .x = bytes,
      .y = {.label = "B/s", .quantity = plots::Quantity::per_second, .scale = plots::AxisScale::log10},
      .series = {}};
  plots::Curves times{
      .x = bytes,
      .y = {.label = "time", .quantity = plots::Quantity::duration, .scale = plots::AxisScale::log10},
      .series = {}};
  const CollectivesAnswer answer = collectives_answer(document);
  for (const CollectiveSeries& series : answer.series) {
    const std::size_t place = rates.series.size();
    plots::ChartSeries rate{
        .name = fmt::format("{}, {} ranks{}", series.label(), series.ranks, model_in_words(series)),
        .points = {},
        .colour = place % plots::kSeriesColours,
        .shape = place};
    plots::ChartSeries time = rate;
    for (const SizePoint& point : series.points) {
      const Estimate moved = point.rate();
      const bool open = !point.mark.empty();
      rate.points.push_back({.x = point.bytes, .y = moved.value, .interval = moved.ci95, .open = open});
      time.points.push_back({.x = point.bytes, .y = point.ns.value, .interval = point.ns.ci95, .open = open});
    }
    rates.series.push_back(std::move(rate));
    times.series.push_back(std::move(time));
  }
  return {{.title = "Bus bandwidth between ranks", .content = std::move(rates)},
          {.title = "Time of the slowest rank", .content = std::move(times)}};
}

const Registration<report::SweepReport> collectives_report{
    {.name = "collectives",
     .choose_headlines =
         [](ResultDocument& document) {
           choose_collectives_headlines(collectives_answer(document), document.findings);
         },
     .charts = collectives_charts}};

}  // namespace
}  // namespace bench::sweeps
