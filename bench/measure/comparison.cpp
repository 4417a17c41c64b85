#include "bench/measure/comparison.h"

#include <algorithm>
#include <cmath>

namespace bench {

std::vector<BatchRatio> throughput_ratios(std::span<const ThroughputPoint> one,
                                          std::span<const ThroughputPoint> other) {
  std::vector<BatchRatio> ratios;
  for (const ThroughputPoint& a : one) {
    const auto b = std::ranges::find(other, a.batch, &ThroughputPoint::batch);
    if (b != other.end()) {
      ratios.push_back({a.batch, ratio({a.per_s, a.ci95}, {b->per_s, b->ci95})});
    }
  }
  std::ranges::sort(ratios, {}, &BatchRatio::batch);
  return ratios;
}

std::optional<BatchRatio> mean_ratio(std::span<const BatchRatio> ratios) {
  if (ratios.empty()) {
    return std::nullopt;
  }
  double logs = 0;
  Interval log_ends;
  for (const auto& [batch, ratio] : ratios) {
    logs += std::log(ratio.value);
    log_ends.low += std::log(ratio.low());
    log_ends.high += std::log(ratio.high());
  }
  const auto count = static_cast<double>(ratios.size());
  BatchRatio mean{.batch = 0, .ratio = {.value = std::exp(logs / count)}};
  if (std::ranges::all_of(ratios, [](const BatchRatio& each) { return each.ratio.ci95.has_value(); })) {
    mean.ratio.ci95 = Interval{std::exp(log_ends.low / count), std::exp(log_ends.high / count)};
  }
  return mean;
}

}  // namespace bench
