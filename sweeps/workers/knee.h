// The knee: the smallest worker count that nearly keeps the consumer busy; and where more workers do harm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bench/measure/ceiling.h"
#include "sweeps/workers/points.h"

namespace bench::sweeps {

struct WorkersValue {
  std::int64_t workers = 0;
  Measured value;
};

// The ceiling's arithmetic with workers for the batch and AU for the throughput: the smallest count whose
// lower bound reaches 95 % of the plateau, the best AU.
std::optional<Ceiling> find_knee(std::span<const WorkersValue> au);

// The smallest count above the best one whose images a second, and those of all counts beyond it, lie
// significantly below the best's: interval below interval, and by 2 % at least.
std::optional<std::int64_t> find_harm(std::span<const WorkersValue> images_per_s);

}  // namespace bench::sweeps
