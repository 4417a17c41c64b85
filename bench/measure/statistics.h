// From a point's samples to its median and how far to trust it.
#pragma once

#include <cstdint>
#include <span>

#include "bench/measure/result.h"

namespace bench {

// Quantile of an ascending range by linear interpolation between order statistics (type 7 of Hyndman and Fan
// 1996, the default of R and NumPy). `probability` in [0, 1]. Throws std::invalid_argument when empty.
double sorted_quantile(std::span<const std::int64_t> ascending, double probability);

// Median, p05 and p95 (sorted_quantile of all samples), cv (sample standard deviation over mean; 0 for one
// sample), and the median's 95 % interval, which is the hull of
//  - a hierarchical bootstrap (Davison and Hinkley 1997, section 3.8): rounds are drawn with replacement,
//  then
//    samples within each; the statistic is the median of the drawn rounds' medians; percentiles 2.5 and 97.5;
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

// Items a second when a step of `items` takes between step_ns.low and step_ns.high: the ends change places.
// Throws std::invalid_argument for times that are not positive.
Interval throughput_interval(Interval step_ns, double items);

}  // namespace bench
