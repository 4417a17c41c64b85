// Where the knee is decided, the smallest worker count that nearly keeps the consumer busy, and where more
// workers cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bench/measure/estimate.h"

namespace bench::sweeps {

struct WorkersValue {
  std::int64_t workers = 0;
  Estimate value;
};

struct Knee {
  double plateau_au = 0;  // the best
  std::int64_t plateau_workers = 0;
  // The smallest count whose lower bound reaches 95 % of the plateau; none where the intervals are too wide.
  std::optional<std::int64_t> workers;
  // The counts that the intervals allow: low <= workers <= high.
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool at_largest = false;  // `workers` is the most that was measured: the plateau may lie beyond
};
// The saturation's arithmetic, with workers for the batch and AU for the throughput; nullopt for fewer than
// two counts.
std::optional<Knee> find_knee(std::span<const WorkersValue> au);

// The smallest count above the best one from which on samples a second are significantly lower: interval
// below interval, and by 2 % at least.
std::optional<std::int64_t> find_harm(std::span<const WorkersValue> samples_per_s);

}  // namespace bench::sweeps
