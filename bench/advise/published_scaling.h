// What is known of several cards where nobody measured them: throughput of 8 cards over twice that of 4 at
// the same batch a card, on one DGX-1 or DGX A100. NVIDIA/DeepLearningExamples, commit 729963dd, READMEs: 66
// pairs, their 5th, 50th and 95th percentile.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "bench/stats/estimate.h"

namespace bench {

inline constexpr Interval kPublishedEfficiency{.low = 0.83, .high = 1.02};
inline constexpr double kPublishedMedian = 0.98;
inline constexpr std::int64_t kFewestPublished = 4;  // cards
inline constexpr std::int64_t kMostPublished = 8;

inline std::string published_scaling_in_words() {
  return fmt::format(
      "scaling efficiency {:.0f} to {:.0f} %, median {:.0f} %: 66 published pairs of {} and {} cards "
      "(NVIDIA/DeepLearningExamples)",
      100 * kPublishedEfficiency.low, 100 * kPublishedEfficiency.high, 100 * kPublishedMedian,
      kFewestPublished, kMostPublished);
}

}  // namespace bench
