// Whether memory grows from step to step, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bench/stats/fit.h"

namespace bench {

struct MemorySample {
  std::int64_t step = 0;  // steps done so far
  std::int64_t bytes = 0;
};

struct MemoryGrowth {
  Estimate bytes_per_step;
  bool grows = false;           // the whole interval lies above 0
  std::int64_t first_step = 0;  // judged from here …
  std::int64_t last_step = 0;   // … to here

  // Steps from the last one until `room_bytes` more are used up; nullopt where memory does not grow.
  std::optional<double> steps_until(std::int64_t room_bytes) const;
};

inline constexpr std::size_t kGrowthBlocks = 10;

// Leaves out the first fifth of the samples, in which caches fill and pages are first touched, and cuts the
// rest into ten blocks. The estimate is the mean of the blocks' growths, with Student's interval. A single
// jump, however large, widens the interval and is no growth; a small leak, which takes a page now and then,
// is growth if most blocks show it. Samples by growing step; nullopt for fewer than 2 a block.
std::optional<MemoryGrowth> find_growth(std::span<const MemorySample> samples);

}  // namespace bench
