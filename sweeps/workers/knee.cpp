#include "sweeps/workers/knee.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "bench/measure/saturation.h"

namespace bench::sweeps {

std::optional<Knee> find_knee(std::span<const WorkersValue> au) {
  std::vector<ThroughputPoint> points;
  for (const auto& [workers, value] : au) {
    points.push_back({.batch = workers, .per_s = value.value, .ci95 = {value.low(), value.high()}});
  }
  const auto found = find_saturation(points);
  if (!found) {
    return std::nullopt;
  }
  return Knee{.plateau_au = found->best_per_s,
              .plateau_workers = found->best_batch,
              .workers = found->batch,
              .low = found->low,
              .high = found->high,
              .at_largest = found->at_largest};
}

std::optional<std::int64_t> find_harm(std::span<const WorkersValue> samples_per_s) {
  constexpr double kHarm = 0.98;
  if (samples_per_s.size() < 2) {
    return std::nullopt;
  }
  const auto rate = [](const WorkersValue& point) { return point.value.value; };
  const WorkersValue& best = *std::ranges::max_element(samples_per_s, {}, rate);
  std::vector<WorkersValue> most_first(samples_per_s.begin(), samples_per_s.end());
  std::ranges::sort(most_first, std::greater<>(), &WorkersValue::workers);
  std::optional<std::int64_t> harm;
  for (const WorkersValue& point : most_first) {
    if (point.workers <= best.workers || point.value.high() >= best.value.low() ||
        rate(point) >= kHarm * rate(best)) {
      break;
    }
    harm = point.workers;
  }
  return harm;
}

}  // namespace bench::sweeps
