// Medians and other quantiles, with their confidence intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bench/measure/estimate.h"
#include "bench/measure/result.h"

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

// A 95 % confidence interval of the distribution's median, for any distribution: two of the values, chosen by
// the binomial distribution of the number below the median (Conover 1999, section 3.2). nullopt for fewer
// than six values: even their smallest and largest cover less than 95 %.
std::optional<Interval> median_interval(std::span<const double> values);

// Summary of a point's step times: median, p05 and p95 (quantiles of all samples), cv (sample standard
// deviation over mean; 0 for one sample), and the median's 95 % interval, which is the hull of
//  - a hierarchical bootstrap (Davison and Hinkley 1997, section 3.8): rounds are drawn with replacement,
//    then samples within each; the statistic is the median of the drawn rounds' medians; percentiles 2.5
//    and 97.5;
//  - a Student t interval over the logarithms of the rounds' medians (Kalibera and Jones 2013 take the times
//    themselves; noise multiplies a time, and this interval never reaches zero), because with few rounds the
//    bootstrap can reach no further than the extreme rounds and covers far less than 95 %;
//  - the median itself, which the two need not hold when rounds differ in size.
// It counts drift between rounds only where there are at least two: of one round it is the spread within, and
// of one sample it has no width. Rounds of no samples are passed over.
// Samples are in nanoseconds, round after round; round_sizes sums to their number. The same seed gives the
// same interval. Throws std::invalid_argument for no samples or sizes that do not add up.
SampleStats summarize(std::span<const std::int64_t> samples_ns, std::span<const std::int64_t> round_sizes,
                      std::uint64_t seed);

// The median of positive values of any unit, with the interval that summarize() gives it. Without round sizes
// each value is a round, so that the interval counts what changes between them.
Estimate median_estimate(std::span<const double> values, std::span<const std::int64_t> round_sizes,
                         std::uint64_t seed);
Estimate median_estimate(std::span<const double> values, std::uint64_t seed);

// Items a second when a step of `items` takes between step_ns.low and step_ns.high: the ends change places.
// Throws std::invalid_argument for times that are not positive.
Interval throughput_interval(Interval step_ns, double items);

}  // namespace bench
