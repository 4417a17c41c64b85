// Rounds of repetitions: in which order points are taken, how many samples a repetition has, and when a point
// has been measured enough. Pure: reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/stats/statistics.h"

namespace bench {

// A point is precise when its interval lies within ±1 % of its median; it stops then.
inline constexpr double kPrecise = 0.01;
// Above, its figure is noisy: differences of a tenth cannot be read from it.
inline constexpr double kNoisy = 0.10;
// Flags of a point.
inline constexpr const char* kFewRoundsFlag = "few_rounds";  // too few to measure the spread between rounds
inline constexpr const char* kNoisyFlag = "noisy";

// Whether a point with so many rounds may stop: after 10, 14, 20, 28, 40, … rounds, 1.4 times as many each.
// Every look at the interval is another chance to stop by luck, so they are few.
bool is_look(std::int64_t rounds);

struct StopRule {
  std::int64_t least_rounds = 3;  // fewer do not show the spread between rounds

  static bool precise(const SampleStats& stats) { return stats.interval_kind == kSettled; }
  // The flag of the point if it stops now; empty: it has none.
  std::vector<std::string> flags(const SampleStats& stats) const;
};

// How many steps of `step_ns` fill `sampling_ns`, within [least, most]; most where step_ns is not positive.
std::int64_t samples_for_repetition(double step_ns, double sampling_ns, std::int64_t most = 256,
                                    std::int64_t least = 1);

// A permutation of 0 … points-1 (Fisher–Yates over mt19937_64): another one for each round, the same for the
// same three numbers on every platform. Shuffling keeps a slow drift, such as a warming chip, from always
// meeting the same point at the same time.
std::vector<std::size_t> shuffled_round(std::size_t points, std::uint64_t seed, std::uint64_t round);

}  // namespace bench
