#include "bench/stats/growth.h"

#include <vector>

namespace bench {
namespace {

double at_step(const MemorySample& sample) {
  return static_cast<double>(sample.step);
}

}  // namespace

std::optional<double> MemoryGrowth::steps_until(std::int64_t room_bytes) const {
  if (!grows) {
    return std::nullopt;
  }
  return room_bytes <= 0 ? 0.0 : static_cast<double>(room_bytes) / bytes_per_step.value;
}

std::optional<MemoryGrowth> find_growth(std::span<const MemorySample> samples) {
  const std::span<const MemorySample> judged = samples.subspan(samples.size() / 5);
  if (judged.size() < 2 * kGrowthBlocks) {
    return std::nullopt;
  }
  std::vector<double> growths;  // of the blocks, bytes a step
  for (std::size_t block = 0; block < kGrowthBlocks; ++block) {
    // Blocks share their borders, so that nothing grows unseen between them.
    const MemorySample& first = judged[block * (judged.size() - 1) / kGrowthBlocks];
    const MemorySample& last = judged[(block + 1) * (judged.size() - 1) / kGrowthBlocks];
    const double steps = at_step(last) - at_step(first);
    growths.push_back(steps > 0 ? static_cast<double>(last.bytes - first.bytes) / steps : 0);
  }
  MemoryGrowth growth;
  growth.bytes_per_step = mean_estimate(growths);
  growth.grows = growth.bytes_per_step.low() > 0;
  growth.first_step = judged.front().step;
  growth.last_step = judged.back().step;
  return growth;
}

}  // namespace bench
