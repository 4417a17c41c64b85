#include "bench/commands/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/cli/terminal.h"
#include "bench/commands/expected_duration.h"
#include "bench/commands/summary.h"
#include "bench/host/cpu_usage.h"
#include "bench/host/host_info.h"
#include "bench/page/page.h"
#include "bench/result/result_json.h"
#include "bench/text/units.h"

namespace bench {
namespace {

ExpectedDuration expected(const DryRun& run, const Options& options) {
  ExpectedRun expected{.points = {},
                       .dtypes = 0,
                       .rounds = run.plan.rounds,
                       .asked_rounds = options.benchmark.repetitions,
                       .budget_ns = run.budget.total_ns(),
                       .share_of_budget = run.plan.share_of_budget,
                       .warm_up = WarmUp(run.device)};
  std::set<Dtype> dtypes;
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    if (run.points[i].problem.empty()) {
      const SweepPoint& point = run.plan.points[i];
      const std::int64_t bytes = run.points[i].predicted_bytes;
      expected.points.push_back({.step_ns = rough_step_ns(point, run.device, bytes), .bytes = bytes});
      dtypes.insert(point.spec.dtype);
    }
  }
  expected.dtypes = dtypes.size();
  if (run.device.info().kind == "cpu") {
    expected.cores_are_busy = busy_by_load(load_average().value_or(0), host_info().usable_cores);
  }
  return expected_duration(expected);
}

// Whether anything would be measured.
bool has_duration(const DryRun& run) {
  return run.device.model() == nullptr &&
         std::ranges::any_of(run.points, [](const PlannedPoint& point) { return point.problem.empty(); });
}

Json to_json(const DryRun& run, const Options& options) {
  const Json duration =
      has_duration(run) ? Json(static_cast<std::int64_t>(expected(run, options).ns)) : Json();
  Json json{{"sweep", run.sweep},
            {"workload", run.request.label},
            {"device", run.device.info().id},
            {"memory_cap_bytes", run.request.largest_cap()},
            {"expected_duration_ns", duration},
            {"points", Json::array()}};
  for (const PlannedPoint& point : run.points) {
    json["points"].push_back({{"name", point.name},
                              {"memory_bytes", point.predicted_bytes},
                              {"problem", point.problem.empty() ? Json() : Json(point.problem)}});
  }
  return json;
}

std::string in_words(const ExpectedDuration& duration, const std::string& budget) {
  return duration.by_budget
             ? fmt::format("A run takes about {}: {} ends it.", format_duration(duration.ns), budget)
             : fmt::format("A run takes about {}, and at most {}.", format_duration(duration.ns), budget);
}

Page page_of(const DryRun& run, const Options& options) {
  const std::size_t points = run.points.size();
  const std::int64_t cap = run.request.largest_cap();
  Page page{.title = fmt::format("{} of {} on {}: {} point{} planned within {}; nothing was run.", run.sweep,
                                 run.request.label, run.device.info().id, points, points == 1 ? "" : "s",
                                 format_bytes(cap))};
  if (run.plan.open_ended) {
    page.say("The batch grows up to the memory cap, or until the time budget ends.");
  }
  if (has_duration(run)) {
    page.say(in_words(expected(run, options), run.budget.name()));
  }
  for (const TextTable& table : run.tables) {  // the answer before the points
    page.table(table);
  }
  page.table(planned_table(run.points, cap));
  return page;
}

}  // namespace

void print_dry_run(std::ostream& out, const DryRun& run, const Options& options) {
  if (options.format == "json") {
    out << to_indented_text(to_json(run, options));
  } else if (options.format == "csv") {
    out << planned_csv(run.points);
  } else {
    print_workload_file(run.request);
    out << page_as(options.format, page_of(run, options), terminal_width(STDOUT_FILENO));
  }
}

}  // namespace bench
