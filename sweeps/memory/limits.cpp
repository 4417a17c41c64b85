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

  // nullptr where the batch is unsupported or its bytes cannot be counted.
  const MemoryPlan* at(std::int64_t units) {
    auto known = plans_.find(units);
    if (known == plans_.end()) {
      spec_.batch = units * unit_;
      std::optional<MemoryPlan> plan;
      try {
        plan = type_.plan(spec_, device_);
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
  // From the line through two batches far enough apart to see past what getting ready takes.
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

Json limit_of(PlannedSeries& series, std::int64_t cap) {
  const std::int64_t smallest = series.smallest();
  const MemoryPlan& first = *series.at(smallest);
  Json limit = {{"cap_bytes", cap},
                {"fixed_bytes", first.at_peak.fixed_part()},
                {"setup_bytes", first.setup_peak},
                {"smallest_batch", smallest * series.unit()},
                {"smallest_bytes", first.peak}};
  if (first.peak > cap) {
    limit["largest_batch"] = 0;
    limit["safe_batch"] = 0;
    return limit;
  }
  const std::int64_t largest = series.largest_within(cap);
  limit["largest_batch"] = largest * series.unit();
  if (const MemoryPlan* const plan = series.at(largest)) {
    limit["largest_bytes"] = plan->peak;
  }
  if (const MemoryPlan* const plan = series.at(largest + 1)) {
    limit["next_bytes"] = plan->peak;
  }
  const auto safe = static_cast<std::int64_t>(kSafeShare * static_cast<double>(cap)) - 1;
  limit["safe_batch"] = first.peak > safe ? 0 : series.largest_within(safe) * series.unit();
  return limit;
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

void predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device,
                    ResultDocument& document) {
  Json limits = Json::array();
  std::set<std::string> seen;
  for (const SweepPoint& point : plan.points) {
    if (!seen.insert(point.series).second || request.workload->unsupported(point.spec, device)) {
      continue;
    }
    PlannedSeries series(*request.workload, point.spec, device);
    if (series.smallest() == 0) {
      continue;
    }
    Json params = point.params;
    params.erase("batch");
    for (const std::int64_t cap : request.memory_caps) {
      Json limit = {{"label", memory_label(params, plan.axes)}, {"params", params}};
      limit.update(limit_of(series, cap));
      limits.push_back(std::move(limit));
    }
  }
  document.sweep["limits"] = std::move(limits);
}

}  // namespace bench::sweeps
