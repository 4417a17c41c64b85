#include "sweeps/workers/knee.h"

#include <algorithm>
#include <vector>

namespace bench::sweeps {

std::optional<Ceiling> find_knee(std::span<const WorkersValue> au) {
  std::vector<ThroughputPoint> points;
  for (const WorkersValue& point : au) {
    points.push_back({.batch = point.workers, .per_s = point.value.value, .ci95 = point.value.ci95});
  }
  return find_ceiling(points);
}

std::optional<std::int64_t> find_harm(std::span<const WorkersValue> images_per_s) {
  constexpr double kHarm = 0.98;
  if (images_per_s.size() < 2) {
    return std::nullopt;
  }
  const WorkersValue& best = *std::ranges::max_element(
      images_per_s, {}, [](const WorkersValue& point) { return point.value.value; });
  std::vector<WorkersValue> beyond;
  std::ranges::copy_if(images_per_s, std::back_inserter(beyond),
                       [&](const WorkersValue& point) { return point.workers > best.workers; });
  std::ranges::sort(beyond, std::greater<>(), &WorkersValue::workers);
  std::optional<std::int64_t> harm;
  for (const WorkersValue& point : beyond) {
    if (point.value.ci95.high >= best.value.ci95.low || point.value.value >= kHarm * best.value.value) {
      break;
    }
    harm = point.workers;
  }
  return harm;
}

}  // namespace bench::sweeps
