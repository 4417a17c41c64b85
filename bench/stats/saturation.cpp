#include "bench/stats/saturation.h"

#include <algorithm>
#include <vector>

namespace bench {

std::optional<Saturation> find_saturation(std::span<const ThroughputPoint> points) {
  std::vector<ThroughputPoint> ascending(points.begin(), points.end());
  std::ranges::stable_sort(ascending, {}, &ThroughputPoint::batch);
  if (ascending.empty() || ascending.front().batch == ascending.back().batch) {
    return std::nullopt;
  }
  const ThroughputPoint& best = *std::ranges::max_element(ascending, {}, &ThroughputPoint::per_s);

  Saturation saturation;
  saturation.best_batch = best.batch;
  saturation.best_per_s = best.per_s;
  saturation.intervals_known =
      std::ranges::all_of(ascending, [](const ThroughputPoint& p) { return p.ci95.has_value(); });
  const double enough = kSaturatedShare * best.per_s;
  const auto certain =
      std::ranges::find_if(ascending, [&](const ThroughputPoint& p) { return p.low() >= enough; });
  const auto likely =
      std::ranges::find_if(ascending, [&](const ThroughputPoint& p) { return p.per_s >= enough; });
  const ThroughputPoint& used = certain != ascending.end()  ? *certain
                                : likely != ascending.end() ? *likely
                                                            : best;
  saturation.index = static_cast<std::size_t>(std::ranges::find(points, used.batch, &ThroughputPoint::batch) -
                                              points.begin());
  if (certain != ascending.end()) {
    saturation.batch = certain->batch;
    saturation.per_s = certain->per_s;
    saturation.at_largest = certain->batch == ascending.back().batch;
    saturation.at_smallest = certain->batch == ascending.front().batch;
  }
  // The best itself always reaches its own lower bound.
  saturation.low = std::ranges::find_if(ascending, [&](const ThroughputPoint& p) {
                     return p.high() >= kSaturatedShare * best.low();
                   })->batch;
  const auto surest = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.low() >= kSaturatedShare * best.high(); });
  saturation.high =
      surest != ascending.end() ? surest->batch : std::max(saturation.batch.value_or(0), best.batch);
  return saturation;
}

}  // namespace bench
