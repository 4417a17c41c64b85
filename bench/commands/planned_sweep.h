// The points of a sweep that a run asks for, with the memory each is predicted to take: what --dry-run lists
// and a run starts from.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/cli/table.h"
#include "bench/device.h"
#include "bench/sweep.h"

namespace bench {

class PlannedSweep {
 public:
  // `filter` is --benchmark_filter's. Throws UsageError, also if every cap is below the fixed part of every
  // series. The request and the device outlive it.
  PlannedSweep(SweepPlan plan, const SweepRequest& request, Device& device, const std::string& filter);

  const SweepPlan& plan() const { return plan_; }
  // Ends each open series with its first point over the cap, as a run does: for lists. Plans every point up
  // to there; a run plans a point when its turn comes. Returns early, with the points as they were, when
  // interrupted() turns true.
  void stop_at_cap();
  const PlannedPoint& predict(const SweepPoint& point);

 private:
  void refuse_cap_below_fixed_part();
  void keep_filtered(const std::string& filter);

  const SweepRequest& request_;
  Device& device_;
  SweepPlan plan_;
  std::map<std::string, PlannedPoint> predictions_;
  std::map<std::string, MemoryByCategory> at_peak_;  // of the points that can run
};

}  // namespace bench
