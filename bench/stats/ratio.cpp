#include "bench/stats/ratio.h"

#include <algorithm>
#include <cmath>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

Estimate estimate_of(const Ratio& ratio) {
  return {.value = ratio.value, .ci95 = ratio.interval};
}

}  // namespace

Ratio ratio_of(const Estimate& estimate, double level) {
  return {.value = estimate.value, .interval = estimate.ci95, .level = level};
}

Ratio deviating(double value, double deviation, double level) {
  const double half_width = level == kPredictedLevel ? kNormal80
                            : level == kAdviceLevel  ? kNormal90
                                                     : kNormal95;
  const double half = half_width * deviation;
  return {
      .value = value, .interval = Interval{value * std::exp(-half), value * std::exp(half)}, .level = level};
}

Ratio within_factor(double value, double factor, double level) {
  return {.value = value, .interval = Interval{value / factor, value * factor}, .level = level};
}

Ratio scaled(const Ratio& ratio, double factor) {
  Ratio all = ratio_of(scaled(estimate_of(ratio), factor), ratio.level);
  all.is_bound = ratio.is_bound;
  return all;
}

Ratio inverse(const Ratio& ratio) {
  return ratio_of(inverse(estimate_of(ratio), 1), ratio.level);
}

std::optional<Ratio> mean_ratio(std::span<const Ratio> ratios) {
  if (ratios.empty()) {
    return std::nullopt;
  }
  double logs = 0;
  Interval log_ends;
  for (const Ratio& ratio : ratios) {
    logs += std::log(ratio.value);
    log_ends.low += std::log(ratio.low());
    log_ends.high += std::log(ratio.high());
  }
  const auto count = static_cast<double>(ratios.size());
  Ratio mean{.value = std::exp(logs / count), .level = ratios.front().level};
  if (std::ranges::all_of(ratios, [](const Ratio& each) { return each.interval.has_value(); })) {
    mean.interval = Interval{std::exp(log_ends.low / count), std::exp(log_ends.high / count)};
  }
  return mean;
}

bool differs_from_one(const Estimate& ratio) {
  return ratio_of(ratio).differs_from_one();
}

Estimate throughput_ratio(const TimedWork& one, const TimedWork& other) {
  return scaled(ratio_by_rounds(other.ns, other.rounds, one.ns, one.rounds), one.work / other.work);
}

Estimate ratio_by_rounds(const Estimate& above, const std::vector<double>& above_rounds,
                         const Estimate& below, const std::vector<double>& below_rounds) {
  const auto paired = paired_ratio(above_rounds, below_rounds);
  return paired ? *paired : ratio(above, below);
}

}  // namespace bench
