// Medians and other quantiles, with their confidence intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "bench/stats/estimate.h"

namespace bench {

// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, the default of R
// and NumPy), of values in any order. `probability` in [0, 1]. Throws std::invalid_argument when empty.
double quantile(std::span<const double> values, double probability);
double median(std::span<const double> values);
// 0 for no values.
double mean(std::span<const double> values);
double mean(std::span<const std::int64_t> values);
// The sample's variance: squares over n - 1; 0 for fewer than two values.
double variance(std::span<const double> values);
// The median absolute deviation from `center` as a standard deviation, unbiased for few normal values too
// (Croux and Rousseeuw 1992). Throws std::invalid_argument when empty.
double robust_deviation(std::span<const double> values, double center);

// The deviation of a sum of independent errors: the root of their squares' sum. std::hypot of two would need
// glibc 2.35, newer than all else in the program.
double combined_deviation(std::initializer_list<double> deviations);

// Half the width of the normal distribution's central 80 and 95 %, in deviations.
inline constexpr double kNormal80 = 1.2816;
inline constexpr double kNormal95 = 1.96;

// Deviation of a positive value's logarithm, from an interval of so many deviations to each side.
double log_deviation(const Interval& interval, double half_width);
// An interval of 80 % of a positive value that has an independent error too, whose logarithm deviates by
// `deviation`, or which is a factor in `error80`, an interval around 1: on a logarithmic scale the squares of
// both add up, to each side.
Interval widened80(const Interval& interval, double value, double deviation);
Interval widened80(const Interval& interval, double value, const Interval& error80);

// A 95 % confidence interval of the distribution's median, for any distribution: two of the values, chosen by
// the binomial distribution of the number below the median (Conover 1999, section 3.2). nullopt for fewer
// than six values: even their smallest and largest cover less than 95 %.
std::optional<Interval> median_interval(std::span<const double> values);

inline constexpr const char* kSettled = "settled";  // SampleStats::interval_kind

// Summary of a point's samples, times in nanoseconds. See summarize() for how each is computed.
struct SampleStats {
  double median_ns = 0;  // of the medians of the rounds
  double p05_ns = 0;     // of all samples, as p95 and cv
  double p95_ns = 0;
  double cv = 0;                              // standard deviation over mean
  std::optional<Interval> ci95_ns{};          // of median_ns, for this run; none below two rounds
  std::optional<Interval> ci95_between_ns{};  // of median_ns, for another run; none below three known runs
  // The spread that ci95_ns counts: "none"; "rounds", the spread between them; "settled", the looks of the
  // stop rule as well.
  std::string interval_kind = "none";
  std::int64_t rounds = 0;
  double effective_rounds = 0;  // independent rounds that tell as much

  bool operator==(const SampleStats&) const = default;
  // Without an interval where it has no width.
  Estimate step_time() const {
    const bool has_width = ci95_ns && ci95_ns->low > 0 && ci95_ns->high > ci95_ns->low;
    return {.value = median_ns, .ci95 = has_width ? ci95_ns : std::nullopt};
  }
  // Of the median in another run on this machine, where that is known; else what this run says of itself.
  std::optional<Interval> in_another_run() const { return ci95_between_ns ? ci95_between_ns : ci95_ns; }
  // The longer side of ci95_ns as a share of the median; infinite where there is none.
  double half_width() const {
    return ci95_ns && median_ns > 0
               ? std::max(median_ns - ci95_ns->low, ci95_ns->high - median_ns) / median_ns
               : std::numeric_limits<double>::infinity();
  }
};

// Summary of a point's step times. The round is the unit: samples taken together agree more closely than
// samples taken a minute apart.
// Value: the median of the rounds' medians. p05, p95 and cv (sample standard deviation over mean; 0 for one
// sample) are of all samples.
// Interval: that of RoundModel, about the same median, at 95 %; none below two rounds. It lies between half
// the smallest and twice the largest sample.
// At a look (rounds.h) with a 99 % interval within ±1 % the point is settled and keeps that interval, which
// pays for the looks: a run that stops as soon as its 95 % interval is narrow stops by luck too often.
// Rounds of no samples are passed over. Samples are in nanoseconds, round after round; round_sizes sums to
// their number. Throws std::invalid_argument for no samples or sizes that do not add up.
SampleStats summarize(std::span<const std::int64_t> samples_ns, std::span<const std::int64_t> round_sizes);

// The median of positive values of any unit, with the interval that summarize() gives it. Without round sizes
// each value is a round.
Estimate median_estimate(std::span<const double> values, std::span<const std::int64_t> round_sizes);
Estimate median_estimate(std::span<const double> values);

}  // namespace bench
