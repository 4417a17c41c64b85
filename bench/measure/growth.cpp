#include "bench/measure/growth.h"

#include <cmath>
#include <vector>

#include "bench/measure/student_t.h"

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
  double mean = 0;
  for (std::size_t block = 0; block < kGrowthBlocks; ++block) {
    // Blocks share their borders, so that nothing grows unseen between them.
    const MemorySample& first = judged[block * (judged.size() - 1) / kGrowthBlocks];
    const MemorySample& last = judged[(block + 1) * (judged.size() - 1) / kGrowthBlocks];
    const double steps = at_step(last) - at_step(first);
    growths.push_back(steps > 0 ? static_cast<double>(last.bytes - first.bytes) / steps : 0);
    mean += growths.back() / static_cast<double>(kGrowthBlocks);
  }
  double squares = 0;
  for (const double growth : growths) {
    squares += (growth - mean) * (growth - mean);
  }
  constexpr double kFreedom = kGrowthBlocks - 1;
  const double error = std::sqrt(squares / kFreedom / static_cast<double>(kGrowthBlocks));
  const double half = student_t_quantile(0.975, kFreedom) * error;

  MemoryGrowth growth;
  growth.bytes_per_step = {mean, Interval{mean - half, mean + half}};
  growth.grows = mean - half > 0;
  growth.first_step = judged.front().step;
  growth.last_step = judged.back().step;
  return growth;
}

}  // namespace bench
