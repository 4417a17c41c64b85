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
      ratios.push_back({a.batch, a.per_s / b->per_s, {a.ci95.low / b->ci95.high, a.ci95.high / b->ci95.low}});
    }
  }
  std::ranges::sort(ratios, {}, &BatchRatio::batch);
  return ratios;
}

std::optional<BatchRatio> mean_ratio(std::span<const BatchRatio> ratios) {
  if (ratios.empty()) {
    return std::nullopt;
  }
  BatchRatio logs;
  for (const BatchRatio& each : ratios) {
    logs.ratio += std::log(each.ratio);
    logs.ci95.low += std::log(each.ci95.low);
    logs.ci95.high += std::log(each.ci95.high);
  }
  const auto count = static_cast<double>(ratios.size());
  return BatchRatio{
      0, std::exp(logs.ratio / count), {std::exp(logs.ci95.low / count), std::exp(logs.ci95.high / count)}};
}

}  // namespace bench
