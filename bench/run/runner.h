// Runs a sweep's points: probe, verify, then shuffled rounds until each is precise or the time is spent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

struct RunSettings {
  std::chrono::nanoseconds time_budget{};  // as given; points have the plan's share, from the runner's start
  std::int64_t memory_cap = 0;             // bytes
  std::uint64_t seed = 1;
  std::int64_t min_rounds = 3;
  std::int64_t trusted_rounds = 3;  // before so many no point is called precise
  std::int64_t wanted_rounds = 6;   // over which samples are spread
  std::int64_t growing_rounds = 6;  // what an open series leaves room for when it grows
  std::int64_t max_rounds = 40;
  std::int64_t max_samples = 256;  // of one visit
  std::chrono::nanoseconds longest_visit = std::chrono::milliseconds(500);
  std::chrono::nanoseconds already_spent{};  // of the budget, by the processes this one goes on for
};

struct RunProgress {
  double fraction = 0;  // of the time budget or of the rounds, whichever is further
  std::string what;     // "round 2: batch/resnet50/infer/fp32/batch:8"
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> left;  // at most
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void progress(const RunProgress& progress) = 0;
  // After every visit and every point that could not be measured. Findings are up to date.
  virtual void changed(const ResultDocument& document) = 0;
};

// Adds results to `document`, which may already hold points of an earlier run: those that are finished are
// kept, those in error are not tried again, the others go on. Returns early, with what was measured, when
// interrupted() turns true. Throws DeviceLost once the point that lost the device is in error.
void run_points(const Sweep& sweep, const SweepPlan& plan, const SweepRequest& request, Device& device,
                const RunSettings& settings, ResultDocument& document, RunObserver& observer);

}  // namespace bench
