// Groups of runs, and what they tell of a number that each run has: a point's level, or what its points
// share.
#pragma once

#include <vector>

#include "bench/stats/comparison.h"

namespace bench {

// Runs of one kind, and how the change is made of their means: -1 and 1 for base and next, 1 for differences
// within pairs, 0 for the history.
struct RunGroup {
  std::vector<RunLevels> runs;
  double coefficient;
};

// Base and next; the differences within pairs; or base, next and history.
std::vector<RunGroup> groups_of(const RunsToCompare& runs);

// A number of each run, by group: a point's level, or the shift.
using ByRun = std::vector<std::vector<double>>;

// One such number over the runs; NaN is a run without it.
struct RunContrast {
  std::vector<double> means;  // by group, of its runs that have it
  double change = 0;          // between the sides; NaN where one has none
  double factor = 0;          // variance of the change over that of one run
  double squares = 0;         // of the deviations from the groups' means
  double farthest = 0;  // such deviation, as that of a run from a mean it is no part of: times sqrt(n/(n-1))
  double freedom = 0;
};

RunContrast contrast_of(const std::vector<RunGroup>& groups, const ByRun& values);

}  // namespace bench
