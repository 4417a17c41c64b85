#include "bench/stats/batch_fits.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace bench {

BatchFits::BatchFits(std::span<const ThroughputPoint> throughputs, std::span<const MemoryPoint> points)
    : saturation(find_saturation(throughputs)) {
  std::vector<MemoryPoint> known;
  std::ranges::copy_if(points, std::back_inserter(known),
                       [](const MemoryPoint& point) { return point.bytes > 0; });
  memory = fit_memory_line(known);
}

std::optional<std::int64_t> BatchFits::largest_batch(const std::optional<std::int64_t>& cap_bytes) const {
  return memory && cap_bytes ? memory->largest_batch(*cap_bytes) : std::nullopt;
}

}  // namespace bench
