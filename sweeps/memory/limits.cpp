#include "sweeps/memory/limits.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/error.h"
#include "bench/measure/headroom.h"
#include "bench/measure/search.h"
#include "sweeps/memory/label.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 40;

// Thrown where the planning ends.
class Ended : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Plans of one series, each made once.
class PlannedSeries {
 public:
  // All but the spec outlive it.
  PlannedSeries(const WorkloadType& type, WorkloadSpec spec, Device& device, const PlanningEnd& end)
      : type_(type), spec_(std::move(spec)), device_(device), end_(end), unit_(batch_unit(spec_)) {}

  std::int64_t unit() const { return unit_; }

  // nullptr where the batch is unsupported, or its bytes cannot be counted. Throws Ended.
  const MemoryPlan* at(std::int64_t units) {
    const Planned& planned = planned_at(units);
    return planned.plan ? &*planned.plan : nullptr;
  }
  // Why the batch is unsupported; empty where it is not. Throws Ended.
  const std::string& unsupported_at(std::int64_t units) { return planned_at(units).unsupported; }

  // The smallest batch that can run; some layers need more than one sample. 0 where none was found.
  std::int64_t smallest() {
    constexpr std::int64_t kMostTried = 64;
    for (std::int64_t units = 1; units <= kMostTried; ++units) {
      if (at(units) != nullptr) {
        return units;
      }
    }
    return 0;
  }

  // A smallest() is there.
  std::int64_t largest_within(std::int64_t bytes) {
    if (!search_) {
      search_.emplace(smallest(), kMostUnits, [this](std::int64_t units) {
        const MemoryPlan* const plan = at(units);
        return plan == nullptr ? std::nullopt : std::optional(plan->peak);
      });
    }
    return search_->largest_within(bytes);
  }

 private:
  struct Planned {
    std::optional<MemoryPlan> plan;
    std::string unsupported;
  };

  const Planned& planned_at(std::int64_t units) {
    auto known = plans_.find(units);
    if (known == plans_.end()) {
      if (const auto reason = end_()) {
        throw Ended(*reason);
      }
      spec_.batch = units * unit_;
      Planned planned;
      try {
        planned.plan = type_.configure(spec_)->plan(device_);
      } catch (const Unsupported& refusal) {
        planned.unsupported = refusal.what();
      } catch (const OutOfMemory&) {
      }
      known = plans_.emplace(units, std::move(planned)).first;
    }
    return known->second;
  }

  const WorkloadType& type_;
  WorkloadSpec spec_;
  Device& device_;
  const PlanningEnd& end_;
  std::int64_t unit_;
  std::map<std::int64_t, Planned> plans_;
  std::optional<LineSearch> search_;
};

void find_limit_of(PlannedSeries& series, Limit& limit) {
  const std::int64_t smallest = series.smallest();
  const MemoryPlan& first = *series.at(smallest);
  limit.fixed_bytes = first.at_peak.fixed_part();
  limit.setup_bytes = first.setup_peak;
  limit.smallest_batch = smallest * series.unit();
  limit.smallest_bytes = first.peak;
  if (first.peak > limit.cap_bytes) {
    return;
  }
  const std::int64_t largest = series.largest_within(limit.cap_bytes);
  limit.largest_batch = largest * series.unit();
  if (const MemoryPlan* const plan = series.at(largest)) {
    limit.largest_bytes = plan->peak;
  }
  if (const MemoryPlan* const plan = series.at(largest + 1)) {
    limit.next_bytes = plan->peak;
  }
  limit.next_unsupported = series.unsupported_at(largest + 1);
  const auto safe = static_cast<std::int64_t>(kSafeShare * static_cast<double>(limit.cap_bytes)) - 1;
  limit.safe_batch = series.largest_within(safe) * series.unit();
}

bool is_known(const std::vector<Limit>& limits, const std::string& label, std::int64_t cap) {
  return std::ranges::any_of(
      limits, [&](const Limit& limit) { return limit.label == label && limit.cap_bytes == cap; });
}

}  // namespace

std::int64_t batch_unit(const WorkloadSpec& spec) {
  const auto at = spec.options.find("accumulate");
  std::int64_t unit = 1;
  if (at != spec.options.end()) {
    const char* const end = at->second.data() + at->second.size();
    const auto read = std::from_chars(at->second.data(), end, unit);
    unit = read.ec == std::errc{} && read.ptr == end && unit > 0 ? unit : 1;
  }
  return unit;
}

std::optional<LimitsLeftOut> predict_limits(const SweepRequest& request, const SweepPlan& plan,
                                            Device& device, const PlanningEnd& end,
                                            std::vector<Limit>& limits) {
  std::optional<LimitsLeftOut> left_out;
  std::set<std::string> seen;
  for (const SweepPoint& point : plan.points) {
    if (!seen.insert(point.series).second || point.workload->unsupported(device)) {
      continue;
    }
    const std::string label = memory_label(*params_as<BatchParams>(point), plan.axes);
    PlannedSeries series(*request.workload, point.spec, device, end);
    for (const std::int64_t cap : request.memory_caps) {
      if (is_known(limits, label, cap)) {
        continue;
      }
      if (left_out) {
        ++left_out->count;
        continue;
      }
      try {
        if (series.smallest() == 0) {
          break;
        }
        Limit limit;
        limit.label = label;
        limit.params = point.params;
        limit.params.erase("batch");
        limit.cap_bytes = cap;
        find_limit_of(series, limit);
        limits.push_back(std::move(limit));
      } catch (const Ended& ended) {
        left_out = LimitsLeftOut{.count = 1, .reason = ended.what()};
      }
    }
  }
  return left_out;
}

void adopt_limits(const MemoryState& before, MemoryState& state) {
  for (const Limit& limit : before.limits) {
    if (!state.limits_left_out || is_known(state.limits, limit.label, limit.cap_bytes)) {
      continue;
    }
    state.limits.push_back(limit);
    state.limits.back().proof.reset();
    if (--state.limits_left_out->count == 0) {
      state.limits_left_out.reset();
    }
  }
}

}  // namespace bench::sweeps
