// The largest of several estimates, without the luck of having been chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

struct BestEstimate {
  Estimate estimate;                // no interval where none of the candidates has one
  std::size_t place = 0;            // of the best, in the order given
  std::vector<std::size_t> rivals;  // the others that are not significantly below it, in the order given
};

// The largest of n equal medians lies above their truth: of six by 1.27 standard errors on average. So the
// best is drawn towards the mean of its rivals as far as noise alone explains that they differ (empirical
// Bayes; Efron and Morris 1975, doi 10.1080/01621459.1975.10479864). In logarithms, with a standard error of
// an interval's width / 3.92:
//  - Rivals: the estimates whose interval reaches the highest lower bound.
//  - Spread between their true values: the moment estimate of DerSimonian and Laird 1986
//    (doi 10.1016/0197-2456(86)90046-2); 0 where noise explains the whole. Then all are pooled.
//  - The best is the largest of the drawn estimates; of equals, the one with the highest lower bound. Its
//    interval moves with it and keeps its width, which is wider than needed where all are alike, and about
//    right where they differ by as much as their noise.
// Estimates without interval count only where no other is there; the largest is then taken as it is. Values
// and lower ends that are not positive are passed over. nullopt where none is left.
std::optional<BestEstimate> best_estimate(std::span<const Estimate> estimates);

}  // namespace bench
