// When a point has been measured enough, and how many samples a visit to it takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench {

struct StopRuleSettings {
  std::int64_t min_rounds = 3;
  // Before so many nothing is called precise, however narrow: where a machine has fast and slow seconds,
  // three rounds may agree by chance.
  std::int64_t trusted_rounds = 3;
  double half_width = 0.01;            // of the median: both ends of its 95 % interval lie within it
  std::chrono::nanoseconds budget{0};  // from the start; once it is spent, nothing goes on
};

enum class Verdict { keep_going, precise, out_of_time };

// Reads no clock: time since the start is passed in.
class StopRule {
 public:
  explicit StopRule(StopRuleSettings settings) : settings_(settings) {}

  // A precise point stays precise after the budget's end.
  Verdict decide(const SampleStats& stats, std::chrono::nanoseconds elapsed) const;

  // What the point's validity must say if it stops now: "few_rounds" (its interval cannot know the spread
  // between rounds), else "noisy" (the interval is wider than asked); empty for a precise point.
  std::vector<std::string> flags(const SampleStats& stats) const;

 private:
  bool enough_rounds(const SampleStats& stats) const { return stats.rounds >= settings_.min_rounds; }
  bool narrow(const SampleStats& stats) const;

  StopRuleSettings settings_;
};

// How many steps of `step_ns` fill `slice`, within [min, max]; max where step_ns is not positive.
std::int64_t samples_for_visit(double step_ns, std::chrono::nanoseconds slice, std::int64_t max = 256,
                               std::int64_t min = 1);

}  // namespace bench
