#include "bench/measure/ceiling.h"

#include <algorithm>
#include <vector>

namespace bench {

std::optional<Ceiling> find_ceiling(std::span<const ThroughputPoint> points) {
  std::vector<ThroughputPoint> ascending(points.begin(), points.end());
  std::ranges::sort(ascending, {}, &ThroughputPoint::batch);
  if (ascending.empty() || ascending.front().batch == ascending.back().batch) {
    return std::nullopt;
  }
  const ThroughputPoint& best = *std::ranges::max_element(ascending, {}, &ThroughputPoint::per_s);

  Ceiling ceiling;
  ceiling.best_batch = best.batch;
  ceiling.best_per_s = best.per_s;
  const auto certain = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.ci95.low >= kCeilingShare * best.per_s; });
  if (certain != ascending.end()) {
    ceiling.batch = certain->batch;
    ceiling.per_s = certain->per_s;
    ceiling.at_largest = certain->batch == ascending.back().batch;
    ceiling.at_smallest = certain->batch == ascending.front().batch;
  }
  // The best itself always reaches its own lower bound.
  ceiling.low = std::ranges::find_if(ascending, [&](const ThroughputPoint& p) {
                  return p.ci95.high >= kCeilingShare * best.ci95.low;
                })->batch;
  const auto surest = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.ci95.low >= kCeilingShare * best.ci95.high; });
  ceiling.high = surest != ascending.end() ? surest->batch : std::max(ceiling.batch.value_or(0), best.batch);
  return ceiling;
}

}  // namespace bench
