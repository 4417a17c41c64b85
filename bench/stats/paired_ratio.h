// Two points of one run compared round by round: what slows a whole round cancels out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

// The median of a round's samples.
struct RoundTime {
  std::int64_t session = 0;
  std::int64_t round = 0;  // of the session
  double ns = 0;
};
// In the order taken.
using RoundTimes = std::vector<RoundTime>;

// above / below: the median of the ratios of the rounds that both have, with the interval of
// median_estimate(). nullopt for fewer than three such rounds.
std::optional<Estimate> paired_ratio(const RoundTimes& above, const RoundTimes& below);

// The same of two series of times taken in the same rounds; nullopt where they differ in length.
std::optional<Estimate> paired_ratio(const std::vector<double>& above, const std::vector<double>& below);

// As ratio(), by rounds where that is possible.
Estimate ratio_by_rounds(const Estimate& above, const RoundTimes& above_rounds, const Estimate& below,
                         const RoundTimes& below_rounds);

}  // namespace bench
