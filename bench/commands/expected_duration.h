// How long a run will take, for --dry-run: by arithmetic, before anything is run.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bench/device.h"
#include "bench/run/warm_up.h"
#include "bench/sweep.h"

namespace bench {

// Roughly, from the multiply-adds of a network or the memory of an operation, and what a core or a card does
// on average, and emptying a CPU's caches where they are to be cold; at least what the point says of itself.
double rough_step_ns(const SweepPoint& point, Device& device, std::int64_t planned_bytes);

struct ExpectedPoint {
  double step_ns = 0;
  std::int64_t bytes = 0;  // planned; every round allocates and fills them again
};

struct ExpectedRun {
  std::vector<ExpectedPoint> points;  // those that can run
  std::size_t dtypes = 1;             // whose peaks are measured first
  RoundPolicy rounds;
  std::int64_t asked_rounds = 0;  // by the user; 0: until points are precise
  double budget_ns = 0;
  double share_of_budget = 1;   // for the points; the sweep's own measurements follow
  bool cores_are_busy = false;  // with other programs
  WarmUp warm_up{};
};

struct ExpectedDuration {
  double ns = 0;
  bool by_budget = false;  // the time budget ends it
};
// Within a factor of 2, as a rule: how many rounds a point needs is not known.
ExpectedDuration expected_duration(const ExpectedRun& run);

// By the load of the last minute, in which an earlier run of this program counts too.
bool busy_by_load(double load, int usable_cores);

}  // namespace bench
