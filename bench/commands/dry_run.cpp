#include "bench/commands/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/terminal.h"
#include "bench/commands/expected_duration.h"
#include "bench/commands/network_words.h"
#include "bench/commands/summary.h"
#include "bench/host/cpu_usage.h"
#include "bench/host/host_info.h"
#include "bench/page/page.h"
#include "bench/predicted_step.h"
#include "bench/result/memory_members.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"
#include "bench/text/units.h"

namespace bench {

void members(JsonWriter& io, const PlannedPoint& point) {
  io("name", point.name);
  io("memory_bytes", point.predicted_bytes);
  io("most_memory_bytes", point.most_bytes);
  io("memory", point.memory);
  io.null_if_empty("problem", point.problem);
}

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
  JsonWriter io;
  io("sweep", run.sweep);
  io("workload", run.request.label);
  io("device", run.device.info().id);
  io("memory_cap_bytes", run.request.largest_cap());
  io("expected_duration_ns",
     has_duration(run) ? std::optional(static_cast<std::int64_t>(expected(run, options).ns)) : std::nullopt);
  io.list("findings", run.answers, [](JsonWriter& one, const Finding& answer) {
    one("name", answer.name);
    one("value", answer.value);
    one("claim", answer.claim);
    one("details", answer.details);
  });
  io("points", run.points);
  return io.take();
}

// Of a long list of series that grow to the cap, the last of each that fits.
std::vector<PlannedPoint> points_to_show(const DryRun& run, bool verbose) {
  constexpr std::size_t kShort = 24;
  if (verbose || !run.plan.open_ended || run.points.size() <= kShort) {
    return run.points;
  }
  std::vector<PlannedPoint> last;
  std::string series;
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const PlannedPoint& point = run.points[i];
    if (last.empty() || run.plan.points[i].series != series) {
      series = run.plan.points[i].series;
      last.push_back(point);
    } else if (point.problem.empty() && point.most_bytes <= run.request.largest_cap()) {
      last.back() = point;
    }
  }
  return last;
}

// "this CPU", or a GPU by its id.
std::string device_in_words(const DeviceInfo& device) {
  return device.kind == "cpu" ? "this CPU" : device.id;
}

// Up to two cards with about so much memory, the newest chips; an example where there are none.
std::vector<std::string> gpus_of(std::int64_t bytes) {
  constexpr double kAlike = 1.1;
  std::vector<const Gpu*> alike;
  for (const Gpu& gpu : gpu_catalogue().all()) {
    const double ratio = static_cast<double>(gpu.memory_bytes) / static_cast<double>(bytes);
    if (gpu.bus && ratio >= 1 / kAlike && ratio <= kAlike) {
      alike.push_back(&gpu);
    }
  }
  std::ranges::stable_sort(alike, std::greater<>(), &Gpu::compute_capability);
  std::vector<std::string> ids;
  for (const Gpu* const gpu : alike | std::views::take(2)) {
    ids.push_back(gpu->id);
  }
  return ids.empty() ? std::vector<std::string>{"rtx3070"} : ids;
}

std::string in_words(const ExpectedDuration& duration, const std::string& budget) {
  return duration.by_budget
             ? fmt::format("A run takes about {}: {} ends it.", format_duration(duration.ns), budget)
             : fmt::format("A run takes about {}, and at most {}.", format_duration(duration.ns), budget);
}

// What the column "at most" counts; empty where there is none.
std::string most_in_words(const DryRun& run, const std::vector<PlannedPoint>& shown) {
  if (std::ranges::none_of(
          shown, [](const PlannedPoint& point) { return point.most_bytes > point.predicted_bytes; })) {
    return "";
  }
  const bool scores = std::ranges::any_of(run.plan.points, [&](const SweepPoint& point) {
    return counts_scores(run.device, *point.workload, point.spec);
  });
  return fmt::format("at most: the upper end of the {} interval{}, by which a batch fits",
                     level_in_words(Origin::predicted), scores ? ", with attention written out" : "");
}

Page page_of(const DryRun& run, const Options& options) {
  const std::size_t points = run.points.size();
  const std::int64_t cap = run.request.largest_cap();
  const DeviceInfo& device = run.device.info();
  const bool is_whole_card =
      !run.answers.empty() && run.device.model() != nullptr && cap == device.available_bytes;
  const std::string left =
      is_whole_card ? fmt::format(", all that the driver leaves of {}", format_bytes(device.memory_bytes))
                    : "";
  const std::string planned = points == 0 ? "no point to measure"
                                          : fmt::format("{} point{} planned within {}{}", points,
                                                        points == 1 ? "" : "s", format_bytes(cap), left);
  Page page{.title = fmt::format("{} of {} on {}: {}; nothing was run.", run.sweep, run.request.label,
                                 device_in_words(device), planned)};
  const bool asks_for_memory = !run.answers.empty();
  for (const Finding& answer : run.answers) {
    page.say(answer.claim, Tone::answer);
  }
  if (asks_for_memory && device.kind == "cpu") {
    page.say(
        fmt::format("This is the plan of this CPU. A GPU takes other memory, often more: give its id with "
                    "--device, such as {} (bench --list --gpus).",
                    fmt::join(gpus_of(cap), " or ")));
  }
  const auto trained =
      std::ranges::find(run.plan.points, "train", [](const SweepPoint& point) { return point.spec.mode; });
  if (trained != run.plan.points.end()) {
    page.say(folded_norms_in_words(*trained->workload, "train", run.device), Tone::warning);
  }
  if (run.plan.open_ended) {
    page.say("The batch grows up to the memory cap, or until the time budget ends.");
  }
  if (has_duration(run)) {
    page.say(in_words(expected(run, options), run.budget.name()));
  }
  const std::vector<PlannedPoint> shown = points_to_show(run, options.verbose);
  TextTable table = planned_table(shown, cap, asks_for_memory);
  if (shown.size() < points) {
    table.title = fmt::format("The largest of the planned batches that fit (all {}: --verbose)", points);
  }
  if (counts_context(run.device)) {
    name_context(table);
  }
  if (const std::string most = most_in_words(run, shown); !most.empty()) {
    table.below += (table.below.empty() ? "" : "; ") + most;
  }
  table.name = "points";
  // The answer comes before the points, unless these were asked for and say why some cannot run.
  const bool asked_in_vain =
      !run.plan.open_ended &&
      std::ranges::any_of(shown, [](const PlannedPoint& point) { return !point.problem.empty(); });
  std::vector<TextTable> tables = run.tables;
  tables.insert(asked_in_vain ? tables.begin() : tables.end(), std::move(table));
  page.tables(std::move(tables), options.verbose);
  return page;
}

}  // namespace

void print_dry_run(std::ostream& out, const DryRun& run, const Options& options) {
  if (options.format != "json" && options.format != "csv") {
    print_workload_file(run.request);
  }
  out << formatted(options.format,
                   {.page = [&] { return page_of(run, options); },
                    .csv = [&] { return planned_csv(run.points); },
                    .json = [&] { return to_indented_text(to_json(run, options)); }},
                   terminal_width(STDOUT_FILENO));
}

}  // namespace bench
