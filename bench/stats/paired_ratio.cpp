#include "bench/stats/paired_ratio.h"

#include <cstddef>
#include <utility>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr std::size_t kFewestRounds = 3;

}  // namespace

std::optional<Estimate> paired_ratio(const RoundTimes& above, const RoundTimes& below) {
  const auto place = [](const RoundTime& time) { return std::pair(time.session, time.round); };
  std::vector<double> ratios;
  auto other = below.begin();
  for (const RoundTime& time : above) {
    while (other != below.end() && place(*other) < place(time)) {
      ++other;
    }
    if (other != below.end() && place(*other) == place(time)) {
      ratios.push_back(time.ns / other->ns);
    }
  }
  return ratios.size() < kFewestRounds ? std::nullopt : std::optional(median_estimate(ratios));
}

std::optional<Estimate> paired_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size() && i < below.size(); ++i) {
    if (above[i] > 0 && below[i] > 0) {
      ratios.push_back(above[i] / below[i]);
    }
  }
  const bool paired = above.size() == below.size() && ratios.size() >= kFewestRounds;
  return paired ? std::optional(median_estimate(ratios)) : std::nullopt;
}

Estimate ratio_by_rounds(const Estimate& above, const RoundTimes& above_rounds, const Estimate& below,
                         const RoundTimes& below_rounds) {
  const auto paired = paired_ratio(above_rounds, below_rounds);
  return paired ? *paired : ratio(above, below);
}

}  // namespace bench
