// One dtype against another, batch by batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/measure/saturation.h"

namespace bench {

struct BatchRatio {
  std::int64_t batch = 0;
  Estimate ratio;
};

// Throughput of `one` over `other` at each batch that both have, by batch.
std::vector<BatchRatio> throughput_ratios(std::span<const ThroughputPoint> one,
                                          std::span<const ThroughputPoint> other);

// Geometric mean over the batches, and of the intervals' ends: wider than needed where errors are
// independent, right where they move together. No interval unless all have one; nullopt for no ratios.
std::optional<BatchRatio> mean_ratio(std::span<const BatchRatio> ratios);

}  // namespace bench
