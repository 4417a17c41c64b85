// The plans of a series' batches, and the largest batch below a cap by plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/stats/search.h"
#include "bench/sweep.h"

namespace bench::sweeps {

// Thrown where the planning ends, with PlanningEnd's reason.
class PlanningEnded : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The memory of one series' batches, each planned once; nothing is allocated. Sizes are in units of the
// batch: its micro-batches. All functions throw PlanningEnded.
class PlannedSeries {
 public:
  struct Planned {
    std::optional<MemoryPlan> plan;  // none where the batch is unsupported, or its bytes too many to count
    std::optional<std::int64_t> most_bytes{};  // that it may take: see most_bytes_on()
    std::optional<std::string> unsupported;    // why
  };

  static constexpr std::int64_t kMostUnits = std::int64_t{1} << 40;

  // All but the spec outlive it.
  PlannedSeries(const WorkloadType& type, WorkloadSpec spec, Device& device, const PlanningEnd& end);

  std::int64_t unit() const { return unit_; }  // samples
  const Planned& at(std::int64_t units);
  // The smallest that can run: some layers need more than one sample. 0 where none was found.
  std::int64_t smallest();
  // The largest that takes at most so many bytes, kMostUnits where memory does not grow; 0 where not even the
  // smallest fits. A smallest() is there. See LineSearch for how few plans it makes.
  std::int64_t largest_within(std::int64_t bytes);

 private:
  const WorkloadType& type_;
  WorkloadSpec spec_;
  Device& device_;
  const PlanningEnd& end_;
  std::int64_t unit_;
  std::map<std::int64_t, Planned> plans_;  // by units
  std::optional<LineSearch> search_;
};

// Below a cap.
struct LargestByPlan {
  std::int64_t batch = 0;                         // 0: not even the smallest fits
  std::optional<std::string> next_unsupported{};  // why there is no larger one, whatever memory there were
};

// nullopt where no batch can run, or where memory does not grow with the batch. Throws PlanningEnded.
std::optional<LargestByPlan> largest_by_plan(PlannedSeries& series, std::int64_t cap_bytes);

}  // namespace bench::sweeps
