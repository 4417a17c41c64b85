// What batches of one setting show together: where throughput saturates, and how memory grows. The sweeps'
// series and the curves of `predict`, `evaluate` and `advise` have it from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/stats/memory_line.h"
#include "bench/stats/saturation.h"

namespace bench {

struct BatchFits {
  std::optional<Saturation> saturation{};  // none for fewer than two batches, as the line
  std::optional<MemoryLine> memory{};

  BatchFits() = default;
  // `memory`: a point without bytes is not known, and left out.
  BatchFits(std::span<const ThroughputPoint> throughputs, std::span<const MemoryPoint> points);

  // Of the throughputs, the batch to use.
  std::size_t index() const { return saturation ? saturation->index : 0; }
  // By the memory line. nullopt without a cap, or where memory does not grow with the batch.
  std::optional<std::int64_t> largest_batch(const std::optional<std::int64_t>& cap_bytes) const;
};

}  // namespace bench
