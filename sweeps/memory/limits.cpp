#include "sweeps/memory/limits.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "bench/error.h"
#include "bench/measure/headroom.h"
#include "bench/measure/search.h"
#include "sweeps/memory/label.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 40;

// Plans of one series, each made once.
class PlannedSeries {
 public:
  PlannedSeries(const WorkloadType& type, WorkloadSpec spec, Device& device)
      : type_(type), spec_(std::move(spec)), device_(device), unit_(batch_unit(spec_)) {}

  std::int64_t unit() const { return unit_; }

  // nullptr where the batch is unsupported, or its bytes cannot be counted.
  const MemoryPlan* at(std::int64_t units) {
    auto known = plans_.find(units);
    if (known == plans_.end()) {
      spec_.batch = units * unit_;
      std::optional<MemoryPlan> plan;
      try {
        plan = type_.configure(spec_)->plan(device_);
      } catch (const Unsupported&) {
        unsupported_.insert(units);
      } catch (const OutOfMemory&) {
      }
      known = plans_.emplace(units, plan).first;
    }
    return known->second ? &*known->second : nullptr;
  }

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

  std::int64_t largest_within(std::int64_t bytes) {
    const std::int64_t first = smallest();
    return find_largest_fit(guess(bytes), kMostUnits,
                            [&](std::int64_t units) {
                              const MemoryPlan* const plan = at(units);
                              return plan == nullptr ? unsupported_.contains(units) && units < first
                                                     : plan->peak <= bytes;
                            })
        .size;
  }

 private:
  // By the line through two batches so far apart that setup does not hide the slope.
  std::int64_t guess(std::int64_t bytes) {
    const std::int64_t low = smallest();
    const std::int64_t high = 16 * low;
    const MemoryPlan* const small = at(low);
    const MemoryPlan* const large = at(high);
    if (small == nullptr || large == nullptr || large->peak <= small->peak) {
      return low;
    }
    const double slope = static_cast<double>(large->peak - small->peak) / static_cast<double>(high - low);
    const double room = static_cast<double>(bytes - large->peak) / slope;
    return std::max<std::int64_t>(low, high + static_cast<std::int64_t>(std::min(room, 1e12)));
  }

  const WorkloadType& type_;
  WorkloadSpec spec_;
  Device& device_;
  std::int64_t unit_;
  std::map<std::int64_t, std::optional<MemoryPlan>> plans_;
  std::set<std::int64_t> unsupported_;
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
  const auto safe = static_cast<std::int64_t>(kSafeShare * static_cast<double>(limit.cap_bytes)) - 1;
  limit.safe_batch = first.peak > safe ? 0 : series.largest_within(safe) * series.unit();
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

std::vector<Limit> predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device) {
  std::vector<Limit> limits;
  std::set<std::string> seen;
  for (const SweepPoint& point : plan.points) {
    const auto params = read_params(point.params);
    if (!params || !seen.insert(point.series).second || point.workload->unsupported(device)) {
      continue;
    }
    PlannedSeries series(*request.workload, point.spec, device);
    if (series.smallest() == 0) {
      continue;
    }
    for (const std::int64_t cap : request.memory_caps) {
      Limit& limit = limits.emplace_back();
      limit.label = memory_label(*params, plan.axes);
      limit.params = point.params;
      limit.params.erase("batch");
      limit.cap_bytes = cap;
      find_limit_of(series, limit);
    }
  }
  return limits;
}

}  // namespace bench::sweeps
