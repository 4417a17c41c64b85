// Rounds of repetitions: in which order points are taken, how many samples a repetition has, and when a point
// has been measured enough. Pure: reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench {

struct StopRule {
  std::int64_t least_rounds = 3;  // fewer do not show the spread between rounds
  // No point with fewer rounds is precise, however narrow its interval: on a machine with fast and slow
  // seconds three rounds may agree by chance.
  std::int64_t trusted_rounds = 3;
  double half_width = 0.01;  // of the median: both ends of its 95 % interval lie within it

  bool precise(const SampleStats& stats) const;
  // The flag of the point if it stops now: "few_rounds" (too few to measure the spread between rounds), else
  // "noisy" (the interval is wider than half_width allows); empty for a precise point.
  std::vector<std::string> flags(const SampleStats& stats) const;

 private:
  bool narrow(const SampleStats& stats) const;
};

// How many steps of `step_ns` fill `sampling_ns`, within [least, most]; most where step_ns is not positive.
std::int64_t samples_for_repetition(double step_ns, double sampling_ns, std::int64_t most = 256,
                                    std::int64_t least = 1);

// A permutation of 0 … points-1 (Fisher–Yates over mt19937_64): another one for each round, the same for the
// same three numbers on every platform. Shuffling keeps a slow drift, such as a warming chip, from always
// meeting the same point at the same time.
std::vector<std::size_t> shuffled_round(std::size_t points, std::uint64_t seed, std::uint64_t round);

}  // namespace bench
