#include "bench/stats/change_interval.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "bench/stats/student_t.h"

namespace bench {
namespace {

constexpr double kSlowerLevel = 0.9;       // of a level, for false slowdowns; the rest for false speedups
constexpr double kFoundQuantile = 1.2816;  // the normal's, for a change that is found in 90 %
constexpr double kMostFreedom = 1e5;       // Student's t is normal beyond
constexpr std::int64_t kMostFurtherRuns = 1000;

// The smallest change found in 90 % of such data: a normal approximation to the noncentral t, for a standard
// error that varies both in the data that it was computed from and in the data it is used for. All but
// `freedom` are logarithms.
double smallest_change(double standard_error, double freedom, Reach reach, double threshold) {
  constexpr int kSteps = 20;
  constexpr double kOverstated = 6;  // heavy tails: the error varies as with so many times fewer degrees
  double found = reach.below;
  for (int step = 0; step < kSteps; ++step) {
    const double varies =
        (found * found + reach.below * reach.below) / (2 * std::max(freedom / kOverstated, 1.0));
    found = reach.below + kFoundQuantile * std::sqrt(standard_error * standard_error + varies);
  }
  return std::max(found, threshold - reach.above + kFoundQuantile * standard_error);
}

// threshold: a logarithm.
std::optional<std::int64_t> further_runs(const UncertainChange& change, double threshold,
                                         std::span<const double> sides, CriticalT& critical) {
  const auto settles = [&](std::int64_t more) {
    double variance_now = 0;
    double variance_then = 0;
    double freedom = change.freedom;
    for (const double runs : sides) {
      variance_now += 1 / runs;
      variance_then += 1 / (runs + static_cast<double>(more));
      freedom += static_cast<double>(more);
    }
    const Reach reach = critical(freedom) * (change.standard_error * std::sqrt(variance_then / variance_now));
    const double low = change.value - reach.below;
    const double high = change.value + reach.above;
    return low > 0 || high < 0 || (low >= -threshold && high <= threshold);
  };
  std::int64_t low = 0;
  std::int64_t high = 1;
  while (!settles(high)) {
    low = high;
    high *= 2;
    if (high > kMostFurtherRuns) {
      return std::nullopt;
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (settles(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Reach operator*(Reach reach, double factor) {
  return {.below = reach.below * factor, .above = reach.above * factor};
}

Interval interval_of(double change, Reach reach) {
  return {.low = std::exp(change - reach.below), .high = std::exp(change + reach.above)};
}

Reach CriticalT::operator()(double freedom) {
  const auto [at, absent] = kept_.try_emplace(std::min(freedom, kMostFreedom));
  if (absent) {
    at->second = {.below = student_t_quantile(1 - kSlowerLevel * level_, at->first),
                  .above = student_t_quantile(1 - (1 - kSlowerLevel) * level_, at->first)};
  }
  return at->second;
}

ChangeEstimate judge(const UncertainChange& change, double threshold, std::span<const double> sides,
                     CriticalT& critical) {
  ChangeEstimate judged;
  judged.ratio.value = std::exp(change.value);
  judged.ratio.interval = interval_of(change.value, change.reach);
  judged.verdict = verdict_of(*judged.ratio.interval, threshold);
  judged.smallest_change =
      std::expm1(smallest_change(change.standard_error, change.freedom, change.reach, std::log1p(threshold)));
  if (judged.verdict == ComparisonVerdict::inconclusive) {
    judged.reason = InconclusiveReason::noise;
    judged.further_runs = further_runs(change, std::log1p(threshold), sides, critical);
  }
  return judged;
}

ComparisonVerdict verdict_of(Interval ratio, double threshold) {
  const double most = 1 + threshold;
  const double least = 1 / most;
  if (ratio.low >= least && ratio.high <= most) {
    return ComparisonVerdict::same;
  }
  if (ratio.low > 1) {
    return ComparisonVerdict::slower;
  }
  if (ratio.high < 1) {
    return ComparisonVerdict::faster;
  }
  return ComparisonVerdict::inconclusive;
}

}  // namespace bench
