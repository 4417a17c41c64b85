// What the comparison says of simulated suites.
#pragma once

#include <cstdint>
#include <vector>

#include "count.h"
#include "noise.h"

namespace bench::gate {

// Of the suites, unless it says otherwise.
struct Tally {
  Count slower;      // a point is slower, or what they share: what the command takes for a regression
  Count changed;     // slower or faster
  Count undecided;   // points that are inconclusive
  Count settled;     // no point is, nor what they share
  Count found;       // the point that was slowed is slower
  Count sure;        // or its change is sure, if small
  Count common;      // what all share is slower
  double pairs = 0;  // mean, at which the looks ended
  std::vector<double> smallest_changes;  // that the slowed point's data could have shown: ratio - 1
};

struct Trial {
  NoiseModel model;
  Design design{};
  Effects effects{};
  ComparisonOptions options{};
  bool looks = false;  // stops as `bench ab` does, after design.runs pairs at most
  std::int64_t suites = 2000;
  std::uint64_t seed = 1;
};

Tally run_trial(const Trial& trial);

// How often the smallest change that a suite without any prints as showable is found when it is injected into
// another suite.
Count find_showable(const Trial& trial);

}  // namespace bench::gate
