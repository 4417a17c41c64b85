// Prepares points on the device: makes, warms up and verifies each, or says why it cannot be measured.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/run/run_budget.h"
#include "bench/run/runner.h"
#include "bench/stats/budget.h"
#include "bench/sweep.h"

namespace bench {

struct WarmWorkload {
  std::unique_ptr<Workload> workload;
  PointCost cost;      // setup: this making of it and its warm-up
  double make_ns = 0;  // without the warm-up
  PointMemory memory;  // after the warm-up, if asked for, without peak_predicted
};

enum class MeasureMemory { no, yes };

// Makes the workload and warms it up: the first steps touch fresh pages and compile. Throws OutOfMemory and
// Unsupported.
WarmWorkload make_warm(const SweepPoint& point, Device& device, const Clock& clock, MeasureMemory memory);

// A point's first preparation.
struct PreparedPoint {
  WarmWorkload made;
  Point entry;  // all that is known before the first sample
};

// Why a point and the rest of its series cannot be measured.
struct Refusal {
  std::string status;  // as UnmeasuredPoint's
  std::string reason;
};

class PointPreparer {
 public:
  // All outlive it.
  PointPreparer(const SweepPlan& plan, Device& device, const Clock& clock, const RunSettings& settings,
                const RunBudget& budget, RunObserver& observer)
      : plan_(plan),
        device_(device),
        clock_(clock),
        settings_(settings),
        budget_(budget),
        observer_(observer) {}

  // Why the point's series ended before it; nullopt where it goes on.
  std::optional<Refusal> ended_before(const SweepPoint& point) const;

  // Told what is done now: "planning", "preparing", "verifying".
  using Report = std::function<void(const char* action)>;

  // Ends the point's series where the point cannot be measured, or the time budget ended before its answer
  // was verified and it is not the run's first. `ready`: costs of the points prepared before. Throws
  // Unsupported where a larger point may do, std::runtime_error for a wrong answer, and Interrupted.
  std::variant<PreparedPoint, Refusal> prepare(const SweepPoint& point, const std::vector<PointCost>& ready,
                                               const Report& report);

  // By series, of those that have a prepared point.
  std::map<std::string, SeriesCost> costs() const;

 private:
  // A series while it grows.
  struct Series {
    std::optional<Refusal> end;  // for points of `end_batch` and more
    std::int64_t end_batch = 0;
    std::int64_t prepared = 0;  // points
    std::int64_t last_batch = 0;
    PointCost last_cost;        // of making the last point again
    double first_make_ns = 0;   // of making it for the first time
    double first_setup_ns = 0;  // the same with its warm-up
    double preparation_ns = 0;  // of the last point: setup, warm-up and verification
  };

  // Batch of the point over that of the series' last point; 1 for the first.
  static double growth(const SweepPoint& point, const Series& series);
  // Keys of the points that it is like, the nearest first: of its workload, mode and batch; of its workload;
  // all.
  static std::array<std::string, 3> neighbourhoods(const SweepPoint& point);
  double expected_preparation_ns(const SweepPoint& point, const Series& series) const;
  void remember_preparation(const SweepPoint& point, double preparation_ns);
  void remember_failure(const SweepPoint& point, double preparation_ns);
  // Remembers how long it takes, also where it fails.
  std::variant<PreparedPoint, Refusal> make(const SweepPoint& point, Series& series, const MemoryPlan& plan,
                                            const Report& report);
  std::variant<PreparedPoint, Refusal> made(const SweepPoint& point, Series& series, const MemoryPlan& plan,
                                            const Report& report);
  std::optional<Refusal> refuse(const SweepPoint& point, const Series& series, const MemoryPlan& plan,
                                const std::vector<PointCost>& ready) const;
  void settle_libraries(const SweepPoint& point);

  const SweepPlan& plan_;
  Device& device_;
  const Clock& clock_;
  const RunSettings& settings_;
  const RunBudget& budget_;
  RunObserver& observer_;
  std::map<std::string, Series> series_;
  std::map<std::string, double> preparations_ns_;  // by neighbourhood
  std::map<std::string, double> failures_ns_;      // the same of those that failed, the longest
  std::set<std::string> settled_;                  // series
};

}  // namespace bench
