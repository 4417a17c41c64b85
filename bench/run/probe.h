// Makes points ready for the first time: verified, warmed up, and admitted to the rounds, or unmeasured with
// the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/measure/budget.h"
#include "bench/measure/result.h"
#include "bench/run/ledger.h"
#include "bench/run/run_clock.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

// Points that can be visited.
struct Admitted {
  struct Point {
    const SweepPoint* point;
    PointCost cost;
  };
  std::vector<Point> points;
  std::map<std::string, MeasuredPoint> pending;  // what is known of those not yet timed
  std::set<std::string> failed;                  // not to be visited any more
};

class Prober {
 public:
  // All outlive it.
  Prober(const SweepPlan& plan, const SweepRequest& request, Device& device, const RunSettings& settings,
         const RunClock& clock, PointLedger& ledger, Admitted& admitted, RunObserver& observer)
      : plan_(plan),
        request_(request),
        device_(device),
        settings_(settings),
        clock_(clock),
        ledger_(ledger),
        admitted_(admitted),
        observer_(observer) {}

  // Those of the plan that are `first`, or the others; `after` is called after each. Throws UsageError, and
  // DeviceLost once the point is in error.
  void probe_all(bool first, const std::function<void()>& after);

 private:
  // What is known of a series while it grows.
  struct Series {
    bool closed = false;
    std::string reason;  // why it closed
    std::string status;
    std::int64_t last_batch = 0;
    PointCost last_cost;
  };

  bool finished_earlier(const SweepPoint& point);
  void close(Series& series, const SweepPoint& point, const std::string& status, const std::string& reason);
  std::string least_text(const Series& series, const SweepPoint& point) const;
  PointCost expected_of(const Series& series, const SweepPoint& point) const;
  bool affordable(const Series& series, const SweepPoint& point) const;
  std::int64_t rounds_needed() const;
  void probe(const SweepPoint& point, Series& series);
  void settle_libraries(const SweepPoint& point);
  void admit(const SweepPoint& point, Series& series, const MemoryPlan& plan);

  const SweepPlan& plan_;
  const SweepRequest& request_;
  Device& device_;
  const RunSettings& settings_;
  const RunClock& clock_;
  PointLedger& ledger_;
  Admitted& admitted_;
  RunObserver& observer_;
  std::map<std::string, Series> series_;
  std::size_t probed_ = 0;         // points
  std::set<std::string> settled_;  // workload, mode and dtype
};

}  // namespace bench
