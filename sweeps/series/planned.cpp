#include "sweeps/series/planned.h"

#include <utility>

#include "bench/error.h"
#include "bench/predicted_step.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {

PlannedSeries::PlannedSeries(const WorkloadType& type, WorkloadSpec spec, Device& device,
                             const PlanningEnd& end)
    : type_(type), spec_(std::move(spec)), device_(device), end_(end), unit_(batch_unit(spec_)) {}

const PlannedSeries::Planned& PlannedSeries::at(std::int64_t units) {
  auto known = plans_.find(units);
  if (known == plans_.end()) {
    if (const auto reason = end_()) {
      throw PlanningEnded(*reason);
    }
    spec_.batch = units * unit_;
    Planned planned;
    try {
      const auto workload = type_.configure(spec_);
      planned.plan = plan_on(device_, *workload, spec_);
      planned.most_bytes = most_bytes_on(device_, *workload, spec_, planned.plan->peak);
    } catch (const Unsupported& refusal) {
      planned.unsupported = refusal.what();
    } catch (const UsageError& refusal) {  // of a batch that nobody gave: more elements than a tensor takes
      planned.unsupported = refusal.what();
    } catch (const OutOfMemory&) {
    }
    known = plans_.emplace(units, std::move(planned)).first;
  }
  return known->second;
}

std::int64_t PlannedSeries::smallest() {
  constexpr std::int64_t kMostTried = 64;
  for (std::int64_t units = 1; units <= kMostTried; ++units) {
    if (at(units).plan) {
      return units;
    }
  }
  return 0;
}

std::int64_t PlannedSeries::largest_within(std::int64_t bytes) {
  if (!search_) {
    search_.emplace(smallest(), kMostUnits, [this](std::int64_t units) { return at(units).most_bytes; });
  }
  return search_->largest_within(bytes);
}

std::optional<LargestByPlan> largest_by_plan(PlannedSeries& series, std::int64_t cap_bytes) {
  if (series.smallest() == 0) {
    return std::nullopt;
  }
  const std::int64_t largest = series.largest_within(cap_bytes);
  if (largest == PlannedSeries::kMostUnits) {
    return std::nullopt;
  }
  return LargestByPlan{.batch = largest * series.unit(),
                       .next_unsupported = largest > 0 ? series.at(largest + 1).unsupported : std::nullopt};
}

}  // namespace bench::sweeps
