// One quantity over another of its kind, as how many times as fast, with the interval that holds it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bench/stats/estimate.h"
#include "bench/stats/paired_ratio.h"

namespace bench {

// How many of a hundred intervals hold what they are of: where all was measured, in advice, in predictions.
inline constexpr double kMeasuredLevel = 95;
inline constexpr double kAdviceLevel = 90;
inline constexpr double kPredictedLevel = 80;

inline constexpr double kNormal90 = 1.645;  // as kNormal80 and kNormal95 of statistics.h

struct Ratio {
  double value = 1;
  std::optional<Interval> interval{};  // none where it is not known
  double level = kMeasuredLevel;       // of the interval
  bool is_bound = false;               // the value is the most that it can be, and has no interval

  double low() const { return interval ? interval->low : value; }
  double high() const { return interval ? interval->high : value; }
  // Evidence that it is not 1.
  bool differs_from_one() const { return interval && (interval->low > 1 || interval->high < 1); }
  // The interval is near 1 on both sides: "about equally fast", and not "cannot tell".
  bool is_about_one() const {
    constexpr double kAbout = 1.25;
    return interval && interval->low >= 1 / kAbout && interval->high <= kAbout;
  }
  bool is_predicted() const { return level == kPredictedLevel; }
};

Ratio ratio_of(const Estimate& estimate, double level = kMeasuredLevel);
// Of a value whose logarithm deviates by so much, with the normal distribution's interval of a level above.
Ratio deviating(double value, double deviation, double level);
// From value / factor to value · factor.
Ratio within_factor(double value, double factor, double level);
// ratio · factor, which is positive.
Ratio scaled(const Ratio& ratio, double factor);
// 1 / ratio.
Ratio inverse(const Ratio& ratio);
// Geometric mean, and of the intervals' ends: wider than needed where errors are independent, right where
// they move together. No interval unless all have one; nullopt for no ratios.
std::optional<Ratio> mean_ratio(std::span<const Ratio> ratios);

// Whether a ratio's interval excludes 1.
bool differs_from_one(const Estimate& ratio);

// A step, and the work that it does.
struct TimedWork {
  const Estimate& ns;
  const RoundTimes& rounds;
  double work = 1;
};
// Work a second of one over the other's: by rounds where they share enough of them, else from the ends.
Estimate throughput_ratio(const TimedWork& one, const TimedWork& other);

// As ratio_by_rounds(), of times that were taken in the same rounds.
Estimate ratio_by_rounds(const Estimate& above, const std::vector<double>& above_rounds,
                         const Estimate& below, const std::vector<double>& below_rounds);

}  // namespace bench
