#include "bench/commands/planned_sweep.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/commands/request.h"
#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/run/google_benchmark.h"

namespace bench {

PlannedSweep::PlannedSweep(const Sweep& sweep, const SweepRequest& request, Device& device)
    : request_(request), device_(device), plan_(sweep.plan(request, device)) {}

PlannedSweep plan_sweep(const Sweep& sweep, const SweepRequest& request, Device& device,
                        const std::string& filter) {
  PlannedSweep planned(sweep, request, device);
  for (const SweepPoint& point : planned.plan_.points) {
    point.type(request).check(point.spec);
  }
  planned.refuse_cap_below_fixed_part();
  if (planned.plan_.open_ended) {
    planned.stop_at_cap();
  }
  if (!filter.empty()) {
    planned.keep_filtered(filter);
  }
  return planned;
}

// Asked for several times a point: computed once.
const PlannedPoint& PlannedSweep::predict(const SweepPoint& point) {
  const auto known = predictions_.find(point.name);
  if (known != predictions_.end()) {
    return known->second;
  }
  PlannedPoint row{point.name, 0, {}};
  try {
    const WorkloadType& type = point.type(request_);
    if (const auto reason = type.unsupported(point.spec, device_)) {
      throw Unsupported(*reason);
    }
    const MemoryPlan plan = type.plan(point.spec, device_);
    fixed_[point.name] = plan.at_peak.fixed_part();
    row.predicted_bytes = plan.peak;
    if (row.predicted_bytes > request_.largest_cap()) {
      row.problem = "oom: more than the memory cap";
    }
  } catch (const Unsupported& error) {
    row.problem = std::string("unsupported: ") + error.what();
  } catch (const OutOfMemory& error) {
    row.problem = std::string("oom: ") + error.what();
  }
  return predictions_.emplace(point.name, row).first->second;
}

// A cap that leaves room for some batches is a question; one below what every series holds whatever its
// batch is a mistake.
void PlannedSweep::refuse_cap_below_fixed_part() {
  std::set<std::string> seen;
  std::int64_t least = 0;
  for (const SweepPoint& point : plan_.points) {
    if (!seen.insert(point.series).second) {
      continue;
    }
    predict(point);
    const auto fixed = fixed_.find(point.name);
    if (fixed == fixed_.end() || fixed->second <= request_.largest_cap()) {
      return;
    }
    least = least == 0 ? fixed->second : std::min(least, fixed->second);
  }
  throw UsageError(fmt::format(
      "--memory-cap: {} ({} B) was given, but the fixed part of {}, its weights{}, alone takes {} ({} B); "
      "give more",
      format_bytes(request_.largest_cap()), request_.largest_cap(), workload_label(request_),
      request_.modes == std::vector<std::string>{"infer"}
          ? ""
          : " and in training their gradients and the optimizer's state",
      format_bytes(least), least));
}

// An open-ended series ends with the first point over the cap, which then stands in the file as out of
// memory.
void PlannedSweep::stop_at_cap() {
  std::set<std::string> ended;
  std::vector<SweepPoint> kept;
  for (SweepPoint& point : plan_.points) {
    if (ended.contains(point.series)) {
      continue;
    }
    // What one batch alone cannot do, a larger one may.
    const std::string& problem = predict(point).problem;
    if (problem.starts_with("oom") || point.type(request_).unsupported(point.spec, device_)) {
      ended.insert(point.series);
    }
    kept.push_back(std::move(point));
  }
  plan_.points = std::move(kept);
}

void PlannedSweep::keep_filtered(const std::string& filter) {
  std::vector<std::string> names;
  for (const SweepPoint& point : plan_.points) {
    names.push_back(point.name);
  }
  const std::vector<std::string> selected = select_by_filter(names, filter);
  if (selected.empty()) {
    throw UsageError(fmt::format("--benchmark_filter: {} matches none of the {} points, such as {}",
                                 quote(filter), names.size(), names.front()));
  }
  std::erase_if(plan_.points, [&](const SweepPoint& point) {
    return std::ranges::find(selected, point.name) == selected.end();
  });
}

}  // namespace bench
