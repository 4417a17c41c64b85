#include "bench/commands/planned_sweep.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/predicted_step.h"
#include "bench/run/google_benchmark.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// "weights", "weights, gradients and optimizer state": what of it there is. An operation has no more than
// its weights.
std::string fixed_part_in_words(const MemoryByCategory& bytes) {
  std::vector<std::string> parts;
  for (const auto& [category, words] :
       {std::pair(MemoryCategory::weights, "weights"), std::pair(MemoryCategory::gradients, "gradients"),
        std::pair(MemoryCategory::optimizer, "optimizer state")}) {
    if (bytes[category] > 0) {
      parts.emplace_back(words);
    }
  }
  const std::string last = parts.back();
  parts.pop_back();
  return parts.empty() ? last : fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

}  // namespace

PlannedSweep::PlannedSweep(SweepPlan plan, const SweepRequest& request, Device& device,
                           const std::string& filter)
    : request_(request), device_(device), plan_(std::move(plan)) {
  refuse_cap_below_fixed_part();
  if (!filter.empty()) {
    keep_filtered(filter);
  }
}

// Asked for several times a point: computed once.
const PlannedPoint& PlannedSweep::predict(const SweepPoint& point) {
  const auto known = predictions_.find(point.name);
  if (known != predictions_.end()) {
    return known->second;
  }
  PlannedPoint row{.name = point.name};
  try {
    if (const auto reason = unsupported_on(device_, *point.workload, point.spec)) {
      throw Unsupported(*reason);
    }
    const MemoryPlan plan = plan_on(device_, *point.workload, point.spec);
    at_peak_[point.name] = plan.at_peak;
    row.predicted_bytes = plan.peak;
    row.most_bytes = most_bytes_on(device_, *point.workload, point.spec, plan.peak);
    row.memory = plan.at_peak;
    if (row.predicted_bytes > request_.largest_cap()) {
      row.out_of_memory = true;
      row.problem = kBeyondCap;
    }
  } catch (const Unsupported& error) {
    row.problem = std::string("unsupported: ") + error.what();
  } catch (const OutOfMemory& error) {
    row.out_of_memory = true;
    row.problem = std::string("oom: ") + error.what();
  }
  return predictions_.emplace(point.name, row).first->second;
}

// A cap that leaves room for some batches is a question, and of several caps one may be too small for that: a
// small card among larger ones, whose answer is "none". Where every one is below what every series holds
// whatever its batch, nothing was asked: that is a mistake.
void PlannedSweep::refuse_cap_below_fixed_part() {
  std::set<std::string> seen;
  const MemoryByCategory* least = nullptr;
  for (const SweepPoint& point : plan_.points) {
    if (!seen.insert(point.series).second) {
      continue;
    }
    if (interrupted()) {
      return;
    }
    predict(point);
    const auto fixed = at_peak_.find(point.name);
    if (fixed == at_peak_.end() || fixed->second.fixed_part() <= request_.largest_cap()) {
      return;
    }
    if (least == nullptr || fixed->second.fixed_part() < least->fixed_part()) {
      least = &fixed->second;
    }
  }
  if (least != nullptr) {
    throw UsageError(
        fmt::format("--memory-cap: {} ({} B){} was given, but the fixed part of {}, its {}, alone takes {} "
                    "({} B); give more",
                    format_bytes(request_.largest_cap()), request_.largest_cap(),
                    request_.places.empty() ? "" : " a rank", request_.label, fixed_part_in_words(*least),
                    format_bytes(least->fixed_part()), least->fixed_part()));
  }
}

void PlannedSweep::stop_at_cap() {
  if (!plan_.open_ended) {
    return;
  }
  std::set<std::string> ended;
  std::vector<SweepPoint> kept;
  for (const SweepPoint& point : plan_.points) {
    if (interrupted()) {
      return;
    }
    if (ended.contains(point.series)) {
      continue;
    }
    // A larger batch may do what this one cannot.
    if (predict(point).out_of_memory || unsupported_on(device_, *point.workload, point.spec)) {
      ended.insert(point.series);
    }
    kept.push_back(point);
  }
  plan_.points = std::move(kept);
}

void PlannedSweep::keep_filtered(const std::string& filter) {
  std::vector<std::string> names;
  for (const SweepPoint& point : plan_.points) {
    names.push_back(point.name);
  }
  const std::vector<std::string> selected = select_by_filter(names, filter);
  if (names.empty()) {
    return;
  }
  if (selected.empty()) {
    throw UsageError(fmt::format("--benchmark_filter: {} matches no point; give a part of a name such as {}",
                                 quote(filter), names.front()));
  }
  std::erase_if(plan_.points, [&](const SweepPoint& point) {
    return std::ranges::find(selected, point.name) == selected.end();
  });
}

}  // namespace bench
