// Enters what is measured into the result document.
#pragma once

#include <map>
#include <string>

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/runner.h"
#include "bench/stats/rounds.h"
#include "bench/sweep.h"

namespace bench {

// Every point is in the document once: measured, or unmeasured with its reason. All arguments outlive it.
class ResultRecorder {
 public:
  ResultRecorder(const SweepPlan& plan, Device& device, const StopRule& rule, ResultDocument& document,
                 RunObserver& observer);

  Point* measured(const std::string& name);  // nullptr where it is not
  const UnmeasuredPoint* unmeasured(const std::string& name) const;

  // Where `point` is measured already, it goes on with its samples; else with none.
  // `round`: its place; the rest of it is filled in.
  void add_repetition(const SweepPoint& point, const Point& prepared, Repetition repetition,
                      const DeviceState& state, MeasuredRound round);
  void set_unmeasured(const SweepPoint& point, const std::string& status, const std::string& reason);
  // The fault may have spoilt the point's earlier samples, and would break the device again: the point
  // keeps none and is in error.
  void lose(const SweepPoint& point, const std::string& reason);

 private:
  Point& insert(const Point& point);
  void set_validity(Point& point, Dtype dtype, const DeviceState& state);
  bool exceeds_peak(const Point& point, Dtype dtype);

  std::map<std::string, std::size_t> place_;  // of a point in the plan
  Device& device_;
  const StopRule& rule_;
  ResultDocument& document_;
  RunObserver& observer_;
  int refreshes_left_ = 5;               // of the peaks, each up to a second
  std::map<Dtype, bool> peak_is_quiet_;  // whether its last refresh had the cores for itself
};

}  // namespace bench
