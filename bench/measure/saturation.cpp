#include "bench/measure/saturation.h"

#include <algorithm>
#include <vector>

namespace bench {

std::optional<Saturation> find_saturation(std::span<const ThroughputPoint> points) {
  std::vector<ThroughputPoint> ascending(points.begin(), points.end());
  std::ranges::sort(ascending, {}, &ThroughputPoint::batch);
  if (ascending.empty() || ascending.front().batch == ascending.back().batch) {
    return std::nullopt;
  }
  const ThroughputPoint& best = *std::ranges::max_element(ascending, {}, &ThroughputPoint::per_s);

  Saturation saturation;
  saturation.best_batch = best.batch;
  saturation.best_per_s = best.per_s;
  const auto certain = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.ci95.low >= kSaturatedShare * best.per_s; });
  if (certain != ascending.end()) {
    saturation.batch = certain->batch;
    saturation.per_s = certain->per_s;
    saturation.at_largest = certain->batch == ascending.back().batch;
    saturation.at_smallest = certain->batch == ascending.front().batch;
  }
  // The best itself always reaches its own lower bound.
  saturation.low = std::ranges::find_if(ascending, [&](const ThroughputPoint& p) {
                     return p.ci95.high >= kSaturatedShare * best.ci95.low;
                   })->batch;
  const auto surest = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.ci95.low >= kSaturatedShare * best.ci95.high; });
  saturation.high =
      surest != ascending.end() ? surest->batch : std::max(saturation.batch.value_or(0), best.batch);
  return saturation;
}

}  // namespace bench
