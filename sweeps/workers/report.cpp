// Pictures of the workers sweep in a report: what the loader delivers, and how busy it keeps the consumer.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/text/units.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {
namespace {

// A row of the file's "measured" or "simulated.points", as Sweep::to_json() wrote them: a value by its key,
// with the interval next to it.
std::optional<plots::ChartPoint> chart_point(const Json& row, const std::string& key) {
  const auto value = row.find(key);
  if (value == row.end() || !value->is_number()) {
    return std::nullopt;
  }
  plots::ChartPoint point{.x = row.at("workers").get<double>(), .y = value->get<double>()};
  const auto ci95 = row.find(key + "_ci95");
  if (ci95 != row.end() && ci95->is_array()) {
    point.interval = Interval{.low = ci95->at(0).get<double>(), .high = ci95->at(1).get<double>()};
  }
  point.open = row.value("flagged", false);
  return point;
}

plots::ChartSeries chart_series(const std::string& name, const Json& rows, const std::string& key) {
  plots::ChartSeries series{.name = name};
  for (const Json& row : rows.is_array() ? rows : Json::array()) {
    if (const auto point = chart_point(row, key)) {
      series.points.push_back(*point);
    }
  }
  std::ranges::sort(series.points, {}, &plots::ChartPoint::x);
  return series;
}

plots::Chart loader_chart(const ResultDocument& document, const std::string& title, const std::string& key,
                          const std::string& unit) {
  const Json none = Json::object();
  const Json& state = document.sweep.state;
  const auto simulated = state.find("simulated");
  const Json& points =
      simulated != state.end() && simulated->is_object() ? simulated->value("points", none) : none;
  plots::Curves curves{.x = {.label = "workers", .scale = plots::AxisScale::counts},
                       .y = {.label = unit},
                       .series = {chart_series("measured", state.value("measured", none), key),
                                  chart_series("simulated", points, key)}};
  curves.series[0].line = false;
  curves.series[1].marks = false;
  curves.series[1].colour = 1;
  for (plots::ChartPoint& point : curves.series[1].points) {
    point.open = false;
  }
  std::erase_if(curves.series, [](const plots::ChartSeries& series) { return series.points.empty(); });
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

// Of the points with a time line the one with the most workers that still leave the consumer waiting, so that
// stalls are visible; else the one with the fewest.
const MeasuredPoint* point_to_follow(const ResultDocument& document) {
  const auto knee = std::ranges::find(document.findings, "knee", &Finding::name);
  const double most = knee != document.findings.end() && knee->value ? *knee->value : 0;
  const auto workers = [](const MeasuredPoint& point) { return point.params.value("workers", 0.0); };
  const MeasuredPoint* best = nullptr;
  for (const MeasuredPoint& point : document.benchmarks) {
    const bool told = std::ranges::any_of(
        point.notes, [](const auto& note) { return note && note->to_json().contains("timeline"); });
    if (!told || workers(point) < 1) {
      continue;
    }
    const bool waits = workers(point) < most;
    const bool best_waits = best != nullptr && workers(*best) < most;
    if (best == nullptr || (waits && !best_waits) ||
        (waits == best_waits &&
         (waits ? workers(point) > workers(*best) : workers(point) < workers(*best)))) {
      best = &point;
    }
  }
  return best;
}

// What the consumer and each worker do in a few steps, from an array of who, what, from and to. It begins
// where the consumer first computes, so that it does not show a start that is none.
plots::Chart timeline_chart(const Json& entries, double workers, const char* origin) {
  constexpr std::size_t kMostWorkers = 8;
  constexpr std::size_t kSteps = 7;
  struct Kind {
    const char* what;
    const char* name;
    std::size_t colour;
  };
  constexpr std::array<Kind, 4> kKinds{{{"compute", "computes", 2},
                                        {"wait", "waits for a batch", 1},
                                        {"copy", "copies", 3},
                                        {"make", "makes a batch", 0}}};
  std::vector<double> starts;
  double last = 0;
  std::set<std::pair<std::size_t, std::string>> names;  // "worker 2" before "worker 10"
  for (const Json& entry : entries) {
    const auto who = entry.at("who").get<std::string>();
    if (entry.at("what") == "compute") {
      starts.push_back(entry.at("from_ns").get<double>());
    }
    if (who == "consumer") {
      last = std::max(last, entry.at("to_ns").get<double>());
    } else {
      names.emplace(who.size(), who);
    }
  }
  std::ranges::sort(starts);
  const double from = starts.empty() ? 0 : starts.front();
  const double to = starts.size() > kSteps ? starts[kSteps] : last;
  plots::Timeline line{
      .x = {.quantity = plots::Quantity::duration}, .rows = {"computing", "consumer"}, .kinds = {}};
  for (const auto& [size, name] : names) {
    if (line.rows.size() < kMostWorkers + 2) {
      line.rows.push_back(name);
    }
  }
  for (const Kind& kind : kKinds) {
    plots::SpanKind spans{.name = kind.name, .spans = {}, .colour = kind.colour};
    for (const Json& entry : entries) {
      const auto who = entry.at("who").get<std::string>();
      const std::string& row = who == "consumer" && entry.at("what") == "compute" ? "computing" : who;
      const auto at = std::ranges::find(line.rows, row);
      const double begins = std::max(entry.at("from_ns").get<double>(), from);
      const double ends = std::min(entry.at("to_ns").get<double>(), to);
      if (entry.at("what") == kind.what && at != line.rows.end() && ends > begins) {
        spans.spans.push_back({static_cast<std::size_t>(at - line.rows.begin()), begins - from, ends - from});
      }
    }
    if (!spans.spans.empty()) {
      line.kinds.push_back(std::move(spans));
    }
  }
  return {
      .title = fmt::format("A few steps with {:.0f} worker{}, {}", workers, workers == 1 ? "" : "s", origin),
      .content = std::move(line),
      .wide = true};
}

std::optional<plots::Chart> timeline_chart(const ResultDocument& document) {
  if (const MeasuredPoint* const point = point_to_follow(document)) {
    for (const auto& note : point->notes) {
      const Json json = note ? note->to_json() : Json();
      if (json.contains("timeline")) {
        return timeline_chart(json.at("timeline"), point->params.value("workers", 0.0), "measured");
      }
    }
  }
  const auto simulated = document.sweep.state.find("simulated");
  if (simulated == document.sweep.state.end() || !simulated->is_object() ||
      !simulated->contains("timeline")) {
    return std::nullopt;
  }
  const Json& line = simulated->at("timeline");
  if (line.at("entries").empty()) {
    return std::nullopt;
  }
  return timeline_chart(line.at("entries"),
                        line.at("workers").is_number() ? line.at("workers").get<double>() : 0, "simulated");
}

std::vector<plots::Chart> workers_charts(ResultDocument& document) {
  plots::Chart throughput = loader_chart(document, "Throughput against workers", "images_per_s", "samples/s");
  auto& curves = std::get<plots::Curves>(throughput.content);
  const auto simulated = document.sweep.state.find("simulated");
  if (simulated != document.sweep.state.end() && simulated->is_object()) {
    for (const Json& demand : simulated->value("demands", Json::array())) {
      const double rate = demand.at("images_per_s").get<double>();
      curves.levels.push_back(
          {fmt::format("{} needs {} samples/s", demand.at("name").get<std::string>(), format_number(rate)),
           rate});
    }
  }
  std::vector<plots::Chart> charts{
      std::move(throughput),
      loader_chart(document, "Accelerator utilisation (AU) against workers", "au", "AU")};
  charts.back().note +=
      fmt::format("{}AU 1: a step takes as long as with ready data.", charts.back().note.empty() ? "" : " ");
  if (auto timeline = timeline_chart(document)) {
    charts.push_back(*std::move(timeline));
  }
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "workers", .choose_headlines = choose_workers_headlines, .charts = workers_charts}};

}  // namespace
}  // namespace bench::sweeps
