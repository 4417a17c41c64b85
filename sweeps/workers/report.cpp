// Pictures of the workers sweep in a report: what the loader delivers, and how busy it keeps the consumer.
#include <algorithm>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {
namespace {

// A row of the file's "measured" or "simulated.points", as Sweep::to_json() wrote them: a value by its key,
// with the interval next to it.
std::optional<report::ChartPoint> chart_point(const Json& row, const std::string& key) {
  const auto value = row.find(key);
  if (value == row.end() || !value->is_number()) {
    return std::nullopt;
  }
  report::ChartPoint point{.x = row.at("workers").get<double>(), .y = value->get<double>()};
  const auto ci95 = row.find(key + "_ci95");
  if (ci95 != row.end() && ci95->is_array()) {
    point.interval = Interval{.low = ci95->at(0).get<double>(), .high = ci95->at(1).get<double>()};
  }
  point.open = row.value("flagged", false);
  return point;
}

report::ChartSeries chart_series(const std::string& name, const Json& rows, const std::string& key) {
  report::ChartSeries series{.name = name};
  for (const Json& row : rows.is_array() ? rows : Json::array()) {
    if (const auto point = chart_point(row, key)) {
      series.points.push_back(*point);
    }
  }
  std::ranges::sort(series.points, {}, &report::ChartPoint::x);
  return series;
}

report::Chart loader_chart(const ResultDocument& document, const std::string& title, const std::string& key,
                           const std::string& unit) {
  const Json none = Json::object();
  const Json& state = document.sweep.state;
  const auto simulated = state.find("simulated");
  const Json& points =
      simulated != state.end() && simulated->is_object() ? simulated->value("points", none) : none;
  report::Curves curves{.x = {.label = "workers", .scale = report::AxisScale::counts},
                        .y = {.label = unit},
                        .series = {chart_series("measured", state.value("measured", none), key),
                                   chart_series("simulated", points, key)}};
  curves.series[0].line = false;
  curves.series[1].marks = false;
  curves.series[1].colour = 1;
  for (report::ChartPoint& point : curves.series[1].points) {
    point.open = false;
  }
  std::erase_if(curves.series, [](const report::ChartSeries& series) { return series.points.empty(); });
  const bool open = keep_telling_marks(curves);
  for (const Finding& finding : document.findings) {
    if (finding.name == "knee" && finding.value) {
      curves.places.push_back({fmt::format("knee, {} workers", *finding.value), *finding.value});
    }
  }
  return {.title = title,
          .content = std::move(curves),
          .intervals = "Bars: 95 % intervals.",
          .note = open ? "Open marks: the point carries a flag, see the warning." : ""};
}

std::vector<report::Chart> workers_charts(ResultDocument& document) {
  report::Chart throughput =
      loader_chart(document, "Throughput against workers", "images_per_s", "samples/s");
  auto& curves = std::get<report::Curves>(throughput.content);
  const auto simulated = document.sweep.state.find("simulated");
  if (simulated != document.sweep.state.end() && simulated->is_object()) {
    for (const Json& demand : simulated->value("demands", Json::array())) {
      const double rate = demand.at("images_per_s").get<double>();
      curves.levels.push_back(
          {fmt::format("{} needs {} samples/s", demand.at("name").get<std::string>(), format_number(rate)),
           rate});
    }
  }
  return {std::move(throughput),
          loader_chart(document, "Accelerator utilisation (AU) against workers", "au", "AU")};
}

const Registration<report::SweepReport> registered{
    {.name = "workers", .choose_headlines = choose_workers_headlines, .charts = workers_charts}};

}  // namespace
}  // namespace bench::sweeps
