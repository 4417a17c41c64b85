// The knee, the smallest worker count that nearly keeps the consumer busy: bench/stats/saturation decides
// it, and recommendation.cpp chooses a count from it. Also where more workers harm, and from which share on
// something counts as fed or busy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>

#include "bench/stats/saturation.h"

namespace bench::sweeps {

inline constexpr double kFed = 0.95;      // AU of a consumer that is fed
inline constexpr double kStarved = 0.90;  // AU below which it waits for batches all along
inline constexpr double kBusy = 0.90;     // of the time, for a worker, storage, copies or the host's cores
inline constexpr double kNearly = 0.95;   // of a rate or of simulated cores: all of it

// find_saturation() gives it: the saturation batch's rule, with workers for the batch and AU for the
// throughput.
using Knee = Saturation;

// The smallest count above the best one from which on samples a second are significantly lower: interval
// below interval, and by 2 % at least. By growing workers.
inline std::optional<std::int64_t> find_harm(std::span<const ThroughputPoint> samples_per_s) {
  constexpr double kHarm = 0.98;
  std::optional<std::int64_t> harm;
  const auto best = std::ranges::max_element(samples_per_s, {}, &ThroughputPoint::per_s);
  for (const ThroughputPoint& point : std::views::reverse(samples_per_s)) {
    if (point.batch <= best->batch || point.high() >= best->low() || point.per_s >= kHarm * best->per_s) {
      break;
    }
    harm = point.batch;
  }
  return harm;
}

}  // namespace bench::sweeps
