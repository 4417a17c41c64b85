// Runs a sweep's points: each is prepared, verified and timed once, reference points first; then shuffled
// rounds follow until each point is precise or the time is spent.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/run/run_budget.h"
#include "bench/stats/budget.h"
#include "bench/stats/round_interval.h"
#include "bench/sweep.h"

namespace bench {

class MachineWatch;

// The session that a run measures for, and what watches its machine.
struct RunSession {
  std::int64_t index = 0;         // in the document's sessions
  Clock::time_point started{};    // when it started
  MachineWatch* watch = nullptr;  // none: nothing is known of the machine
};

struct RunSettings {
  std::chrono::nanoseconds time_budget{};  // as given; points have the plan's share
  Clock::time_point started{};             // of the time budget
  std::int64_t memory_cap = 0;             // bytes
  std::uint64_t seed = 1;
  std::int64_t least_rounds = 3;             // before the time budget may skip a repetition for lack of room
  std::int64_t wanted_rounds = kManyRounds;  // over which samples are spread: no point stops before
  RoundPolicy rounds{};
  std::chrono::nanoseconds longest_repetition = std::chrono::milliseconds(500);
  RunSession session{};
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void progress(const RunProgress& progress) = 0;
  // After every repetition and every point that could not be measured. Findings are those of the last round,
  // and up to date when the run ends.
  virtual void changed(const ResultDocument& document) = 0;
  // After a point's answer was checked, which took so long.
  virtual void verified(const std::string& /*point*/, double /*ns*/) {}
};

// `plan`: the points of the sweep that are asked for. Adds results to `document`, which may already hold
// points of an earlier run: those that are finished are kept, those in error are not tried again, the others
// go on. Returns early, with what was measured, when interrupted() turns true. However it ends, the document
// has its findings. Returns what preparing cost, by series. Throws DeviceLost once the point that lost the
// device is in error, and what `observer` throws.
std::map<std::string, SeriesCost> run_points(const Sweep& sweep, const SweepPlan& plan, Device& device,
                                             const Clock& clock, const RunSettings& settings,
                                             ResultDocument& document, RunObserver& observer);

// Writes the sweep's findings and state of now into the document.
void conclude(const Sweep& sweep, ResultDocument& document);

}  // namespace bench
