// Charts of the workers sweep: what the loader delivers, and how busy it keeps the consumer.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/text/units.h"
#include "sweeps/workers/answer.h"

namespace bench::sweeps {
namespace {

// What a file of the sweep tells of each worker count.
struct WorkerCurves {
  std::vector<LoaderPoint> measured;
  std::optional<Simulated> simulated;
  std::optional<std::int64_t> knee{};  // measured
};

WorkerCurves curves_of(const Json& sweep) {
  WorkerCurves curves{.measured = read_measured(sweep), .simulated = read_simulated(sweep)};
  if (const auto knee = measured_knee(curves.measured)) {
    curves.knee = knee->batch;
  }
  return curves;
}

plots::ChartPoint chart_point(std::int64_t workers, const Estimate& estimate, bool open = false) {
  return {.x = static_cast<double>(workers), .y = estimate.value, .interval = estimate.ci95, .open = open};
}

plots::Chart loader_chart(const WorkerCurves& curves, const std::string& title, const std::string& unit,
                          std::optional<Estimate> (*measured)(const LoaderPoint&),
                          Estimate (*simulated)(const SimulatedPoint&)) {
  plots::Curves lines{
      .x = {.label = "workers", .scale = plots::AxisScale::counts},
      .y = {.label = unit},
      .series = {{.name = "measured", .line = false}, {.name = "simulated", .colour = 1, .marks = false}}};
  for (const LoaderPoint& point : curves.measured) {
    if (const auto estimate = measured(point)) {
      lines.series[0].points.push_back(chart_point(point.workers, *estimate, point.flagged));
    }
  }
  if (curves.simulated) {
    for (const SimulatedPoint& point : curves.simulated->points) {
      lines.series[1].points.push_back(chart_point(point.workers, simulated(point)));
    }
  }
  std::erase_if(lines.series, [](const plots::ChartSeries& series) { return series.points.empty(); });
  const bool open = keep_telling_marks(lines);
  if (curves.knee) {
    lines.places.push_back({fmt::format("knee, {} worker{}", *curves.knee, *curves.knee == 1 ? "" : "s"),
                            static_cast<double>(*curves.knee)});
  }
  return {.title = title,
          .content = std::move(lines),
          .intervals = "Bars: 95 % intervals.",
          .note = open ? "Open marks: the point carries a flag, see the warning." : ""};
}

// A few steps with so many workers.
struct FollowedSteps {
  std::int64_t workers = 0;
  const std::vector<simulator::TimelineEntry>* entries = nullptr;
};

// Of the points with a time line the one with the most workers that still leave the consumer waiting, so that
// stalls are visible; else the one with the fewest.
std::optional<FollowedSteps> steps_to_follow(const ResultDocument& document, std::int64_t knee) {
  std::optional<FollowedSteps> best;
  for (const Point& point : measured_points(document)) {
    const FollowedSteps steps{.workers = whole_member(point.params, "workers")};
    for (const auto& note : point.notes) {
      const auto* const window = dynamic_cast<const Window*>(note.get());
      if (window == nullptr || window->timeline.empty() || steps.workers < 1) {
        continue;
      }
      const bool waits = steps.workers < knee;
      const bool best_waits = best && best->workers < knee;
      if (!best || (waits && !best_waits) ||
          (waits == best_waits && (waits ? steps.workers > best->workers : steps.workers < best->workers))) {
        best = {.workers = steps.workers, .entries = &window->timeline};
      }
    }
  }
  return best;
}

// What the consumer and each worker do in a few steps. It begins where the consumer first computes, so that
// it does not show a start that is none.
plots::Chart timeline_chart(const FollowedSteps& steps, const char* origin) {
  constexpr std::size_t kMostWorkers = 8;
  constexpr std::size_t kSteps = 7;
  struct Kind {
    const char* what;
    const char* name;
    std::size_t colour;
  };
  constexpr std::array<Kind, 4> kActivities{{{"compute", "computes", 2},
                                             {"wait", "waits for a batch", 1},
                                             {"copy", "copies", 3},
                                             {"make", "makes a batch", 0}}};
  std::vector<double> starts;
  double last = 0;
  std::set<std::pair<std::size_t, std::string>> names;  // "worker 2" before "worker 10"
  for (const simulator::TimelineEntry& entry : *steps.entries) {
    if (entry.what == "compute") {
      starts.push_back(entry.from_ns);
    }
    if (entry.who == "consumer") {
      last = std::max(last, entry.to_ns);
    } else {
      names.emplace(entry.who.size(), entry.who);
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
  for (const Kind& kind : kActivities) {
    plots::SpanKind spans{.name = kind.name, .spans = {}, .colour = kind.colour};
    for (const simulator::TimelineEntry& entry : *steps.entries) {
      const bool computes = entry.who == "consumer" && entry.what == "compute";
      const auto at = std::ranges::find(line.rows, computes ? "computing" : entry.who);
      const double begins = std::max(entry.from_ns, from);
      const double ends = std::min(entry.to_ns, to);
      if (entry.what == kind.what && at != line.rows.end() && ends > begins) {
        spans.spans.push_back({static_cast<std::size_t>(at - line.rows.begin()), begins - from, ends - from});
      }
    }
    if (!spans.spans.empty()) {
      line.kinds.push_back(std::move(spans));
    }
  }
  return {.title = fmt::format("A few steps with {} worker{}, {}", steps.workers,
                               steps.workers == 1 ? "" : "s", origin),
          .content = std::move(line),
          .wide = true};
}

// Noise may make an AU more than that, which it cannot be.
std::optional<Estimate> at_most_one(std::optional<Estimate> au) {
  if (au) {
    au->value = std::min(au->value, 1.0);
  }
  if (au && au->ci95) {
    au->ci95 = Interval{std::min(au->ci95->low, 1.0), std::min(au->ci95->high, 1.0)};
  }
  return au;
}

std::vector<plots::Chart> workers_charts(ResultDocument& document) {
  restore_points(document);
  const WorkerCurves curves = curves_of(document.sweep.state);
  plots::Chart throughput = loader_chart(
      curves, "Throughput against workers", "samples/s",
      [](const LoaderPoint& point) { return std::optional(point.samples_per_s); },
      [](const SimulatedPoint& point) { return Estimate{.value = point.samples_per_s}; });
  if (curves.simulated) {
    for (const SimulatedRequirement& answer : curves.simulated->requirements) {
      std::get<plots::Curves>(throughput.content)
          .levels.push_back({"required: " + required_text(answer.required), answer.required.samples_per_s});
    }
  }
  std::vector<plots::Chart> charts{
      std::move(throughput), loader_chart(
                                 curves, "Accelerator utilisation (AU) against workers", "AU",
                                 [](const LoaderPoint& point) { return at_most_one(point.au); },
                                 [](const SimulatedPoint& point) {
                                   return *at_most_one(Estimate{.value = point.au, .ci95 = point.au_ci95});
                                 })};
  charts.back().note +=
      fmt::format("{}AU 1: a step takes as long as with ready data.", charts.back().note.empty() ? "" : " ");
  if (const auto steps = steps_to_follow(document, curves.knee.value_or(0))) {
    charts.push_back(timeline_chart(*steps, "measured"));
  } else if (curves.simulated && !curves.simulated->timeline.entries.empty()) {
    const SimulatedTimeline& timeline = curves.simulated->timeline;
    charts.push_back(timeline_chart({timeline.workers, &timeline.entries}, "simulated"));
  }
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "workers",
     .choose_headlines = [](ResultDocument& document) { choose_workers_headlines(document.findings); },
     .recommendation = "recommended_workers",
     .charts = workers_charts}};

}  // namespace
}  // namespace bench::sweeps
