// What is known of a sweep's points, in the result document.
#pragma once

#include <string>

#include "bench/measure/result.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

// Every point stands in the document once: measured, or unmeasured with its reason. What changes is announced
// with the findings anew. All arguments outlive it.
class PointLedger {
 public:
  PointLedger(const Sweep& sweep, const SweepPlan& plan, ResultDocument& document, RunObserver& observer)
      : sweep_(sweep), plan_(plan), document_(document), observer_(observer) {}

  void changed();

  MeasuredPoint* measured(const std::string& name);  // nullptr where it is not
  bool in_error(const SweepPoint& point) const;

  // Where the plan has it. The caller announces it, with its first samples.
  MeasuredPoint& insert(const SweepPoint& point, const MeasuredPoint& entry);
  void set_unmeasured(const SweepPoint& point, const std::string& status, const std::string& reason);
  // What broke the device may have spoilt the point's earlier samples, and would break it again: the point
  // keeps none and is in error.
  void lose(const SweepPoint& point, const std::string& reason);

 private:
  const Sweep& sweep_;
  const SweepPlan& plan_;
  ResultDocument& document_;
  RunObserver& observer_;
};

}  // namespace bench
