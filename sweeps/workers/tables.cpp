#include "sweeps/workers/tables.h"

#include <algorithm>
#include <cmath>

#include <utility>

#include <fmt/format.h>

#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

double half_width(const Measured& measured) {
  return (measured.ci95.high - measured.ci95.low) / 2;
}

// Of one window no interval can be told.
std::string rate_text(const Measured& measured) {
  const double half = half_width(measured);
  return fmt::format("{} ±{}", format_number(measured.value),
                     half > 0 ? format_percent(half / measured.value) : "?");
}

std::string au_text(const Measured& measured) {
  const double half = half_width(measured);
  return fmt::format("{:.3f} ±{}", measured.value, half > 0 ? fmt::format("{:.3f}", half) : "?");
}

std::string number_or_dash(const std::optional<double>& value, auto&& format) {
  return value ? format(*value) : std::string("-");
}

// Below no stall there is nothing to tell apart.
std::string stall_text(double ns) {
  return std::abs(ns) < 1000 ? "0" : ns < 0 ? fmt::format("-{}", format_duration(-ns)) : format_duration(ns);
}

std::string bytes_text(double bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}

TextTable points_table(const LoaderEvidence& evidence) {
  TextTable table;
  bool flagged = false;
  table.rows.push_back({"workers", "images/s", "AU", "stall p50", "stall p99", "CPU/image", "switches/image",
                        "host memory", "consumer", "simulated AU"});
  const bool orders = !evidence.points.other_order.empty();
  const auto add = [&](const LoaderPoint& point, const SimulatedPoint* simulated) {
    const auto& ready = evidence.points.ready;
    flagged = flagged || point.flagged;
    table.rows.push_back(
        {fmt::format("{}{}{}", orders ? point.order + " " : "", point.workers, point.flagged ? " *" : ""),
         rate_text(point.images_per_s), point.au ? au_text(*point.au) : "-",
         number_or_dash(point.stall_p50_ns, stall_text), number_or_dash(point.stall_p99_ns, stall_text),
         format_duration(point.cpu_ns),
         fmt::format("{:.1f} + {:.1f}", point.voluntary_switches, point.involuntary_switches),
         bytes_text(point.host_bytes),
         ready && ready->compute_ns > 0 ? fmt::format("×{:.2f}", point.compute_ns / ready->compute_ns) : "-",
         simulated != nullptr && simulated->held_out_au ? fmt::format("{:.3f}", *simulated->held_out_au)
                                                        : "-"});
  };
  for (const LoaderPoint& point : evidence.points.pool) {
    add(point, evidence.simulated_at(point.workers));
  }
  for (const LoaderPoint& point : evidence.points.other_order) {
    add(point, nullptr);
  }
  table.title = fmt::format(
      "Workers: half of 95 % intervals behind ±; switches: voluntary + involuntary; consumer: its computing "
      "time, "
      "in times of that with ready data; simulated from the other counts{}",
      flagged ? " (*: carries a flag)" : "");
  table.right = std::vector<bool>(table.rows[0].size(), true);
  table.lists_points = true;
  return table;
}

TextTable stages_table(const LoaderEvidence& evidence) {
  TextTable table;
  table.title = "Wall time of a worker for an image, by stage (waits for a core included)";
  table.rows.push_back({"workers"});
  for (const std::string& stage : stage_names()) {
    table.rows[0].emplace_back(stage_text(stage));
  }
  table.rows[0].emplace_back("copy of a batch");
  const auto add = [&](const LoaderPoint& point, const char* note) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{fmt::format("{}{}", point.workers, note)});
    for (const std::string& stage : stage_names()) {
      const auto found = point.stages_ns.find(stage);
      row.push_back(found == point.stages_ns.end() ? "-" : format_duration(found->second));
    }
    row.push_back(format_duration(point.copy_ns));
  };
  for (const LoaderPoint& point : evidence.points.capacity) {
    add(point, ", loader alone");
  }
  for (const LoaderPoint& point : evidence.points.pool) {
    add(point, "");
  }
  table.right = std::vector<bool>(table.rows[0].size(), true);
  table.right[0] = false;
  table.lists_points = true;
  return table;
}

TextTable capacity_table(const LoaderEvidence& evidence) {
  TextTable table;
  table.title = "The loader alone, with a consumer that takes no time";
  table.rows.push_back({"workers", "images/s", "CPU/image", "of the first"});
  for (const LoaderPoint& point : evidence.points.capacity) {
    table.rows.push_back({fmt::format("{}", point.workers), rate_text(point.images_per_s),
                          format_duration(point.cpu_ns),
                          fmt::format("×{:.2f}", point.images_per_s.value /
                                                     evidence.points.capacity.front().images_per_s.value)});
  }
  table.right = std::vector<bool>(table.rows[0].size(), true);
  table.lists_points = true;
  return table;
}

// All counts where nothing was measured; a choice would hide the knee.
TextTable simulated_table(const LoaderEvidence& evidence) {
  const Simulated& simulated = *evidence.simulated;
  TextTable table;
  table.title = fmt::format("Simulated: {:g} cores, prefetch {}, order {}{}", simulated.cores,
                            simulated.prefetch, simulated.order,
                            simulated.gpus > 1 ? fmt::format(", {} GPUs on one host", simulated.gpus) : "");
  table.rows.push_back({simulated.gpus > 1 ? "workers a GPU" : "workers", "images/s", "AU", "stall p50",
                        "stall p99", "workers busy", "limited by"});
  for (const SimulatedPoint& point : simulated.points) {
    table.rows.push_back({fmt::format("{}", point.workers), format_number(point.images_per_s),
                          fmt::format("{:.3f}", point.au), stall_text(point.stall_p50_ns),
                          stall_text(point.stall_p99_ns), format_percent(point.worker_busy),
                          point.limited_by});
  }
  table.right = {true, true, true, true, true, true, false};
  table.lists_points = true;
  return table;
}

TextTable demands_table(const LoaderEvidence& evidence) {
  TextTable table;
  table.title = "What if (simulated): workers for an AU of 0.95";
  table.rows.push_back(
      {"demand", "images/s", "GPUs", "workers a GPU", "AU", "this host tops out at", "limited by"});
  for (const SimulatedDemand& answer : evidence.simulated->demands) {
    table.rows.push_back({answer.demand.name, format_number(answer.demand.images_per_s),
                          fmt::format("{}", answer.gpus),
                          answer.workers ? fmt::format("{}", *answer.workers) : "cannot be fed",
                          fmt::format("{:.2f}", answer.au), images_text(answer.tops_out), answer.limited_by});
  }
  table.right = {false, true, true, true, true, true, false};
  return table;
}

}  // namespace

namespace {

// ", page cache warm", "cold" with what stayed in it, or "as found" with what came from storage.
std::string nice_text(const Json& loader) {
  if (const auto nice = loader.value("nice", std::int64_t{0}); nice > 0) {
    return fmt::format(", workers are nice ({})", nice);
  }
  const double elsewhere = loader.value("busy_elsewhere", 0.0);
  return elsewhere > 0
             ? fmt::format(", workers are not nice, for other programs kept {:.1f} cores busy", elsewhere)
             : "";
}

std::string page_cache_text(const Json& loader) {
  std::string text = fmt::format(", page cache {}", loader.value("page_cache", ""));
  if (const Json part = loader.value("read_from_storage", Json()); part.is_number()) {
    text += fmt::format(" ({} of the images' bytes came from storage)", format_percent(part.get<double>()));
  }
  if (const Json still = loader.value("still_cached", Json()); still.is_object()) {
    text += fmt::format(", but {} of {} reads found their image in it: {}", still.value("reads", 0),
                        still.value("of", 0), printable(still.value("reason", "")));
  }
  return text;
}

// "2 usable cores (affinity mask and cgroup quota); data: synthetic, 256 images of 111 KiB on average, page
// cache warm": what the run had.
std::optional<TextTable> conditions_table(const ResultDocument& document) {
  const Json loader = document.sweep.is_object() ? document.sweep.value("loader", Json()) : Json();
  if (!loader.is_object() || !loader.contains("data")) {
    return std::nullopt;
  }
  const auto cores = loader.value("cores", std::int64_t{0});
  std::string text = fmt::format("{} usable core{} ({}); data: {}", cores, cores == 1 ? "" : "s",
                                 loader.value("cores_why", ""), loader.value("data", ""));
  if (loader.contains("images")) {
    text += fmt::format(", {} images of {} on average", loader.value("images", std::int64_t{0}),
                        bytes_text(loader.value("mean_encoded_bytes", 0.0)));
  }
  return TextTable{.title = text + page_cache_text(loader) + nice_text(loader),
                   .rows = {},
                   .right = {},
                   .lists_points = true};
}

}  // namespace

std::vector<TextTable> workers_tables(const ResultDocument& document) {
  const LoaderEvidence evidence = evidence_of(document);
  std::vector<TextTable> tables;
  if (auto conditions = conditions_table(document); conditions && !evidence.points.pool.empty()) {
    tables.push_back(std::move(*conditions));
  }
  if (!evidence.points.pool.empty()) {
    tables.push_back(points_table(evidence));
  }
  if (!evidence.points.capacity.empty()) {
    tables.push_back(capacity_table(evidence));
  }
  if (!evidence.points.pool.empty() || !evidence.points.capacity.empty()) {
    tables.push_back(stages_table(evidence));
  }
  if (evidence.simulated && evidence.points.pool.empty()) {
    tables.push_back(simulated_table(evidence));
  }
  if (evidence.simulated && !evidence.simulated->demands.empty()) {
    tables.push_back(demands_table(evidence));
  }
  return tables;
}

}  // namespace bench::sweeps
