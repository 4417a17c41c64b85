// Points measured under simulated noise until the stop rule calls them precise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "count.h"

namespace bench::gate {

// Noise of a point's times; a standard deviation is that of a logarithm.
struct PointNoise {
  std::string name;
  std::int64_t most_rounds = 40;
  double round_sd = 0;  // of a round's level, normal
  double phi = 0;       // correlation of one round's level with the next
  int samples = 1;      // of a round
  double sample_sd = 0;
  double slow_share = 0;  // of the rounds, each slower by slow_by
  double slow_by = 0.1;
};

struct StopTally {
  Count precise;      // trials that the rule called precise
  Count wrong;        // called precise, and the interval misses the true median
  Count covered;      // trials that end without: their 95 % interval holds it
  double rounds = 0;  // mean, at the end
};

StopTally run_stop_trials(const PointNoise& noise, std::int64_t trials, std::uint64_t seed);

// The rows that the stop rule was made for, and their neighbours.
std::vector<PointNoise> goal_rows();
std::vector<PointNoise> neighbour_rows();

}  // namespace bench::gate
