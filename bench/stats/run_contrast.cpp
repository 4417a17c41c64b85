#include "bench/stats/run_contrast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

RunLevels difference(const RunLevels& base, const RunLevels& next) {
  RunLevels between;
  between.points.resize(base.points.size());
  for (std::size_t p = 0; p < base.points.size(); ++p) {
    between.points[p] = next.points[p] - base.points[p];
  }
  if (base.calibration && next.calibration) {
    between.calibration = *next.calibration - *base.calibration;
  }
  return between;
}

// Mean of a group's known values, and squares about it. From seven pairs on, those of a trimmed mean (Yuen
// 1974): the mean leaves out the least and the greatest value, and the squares take their neighbours instead.
// One disturbed run then moves neither.
struct GroupMoments {
  double mean = 0;
  double count = 0;
  double squares = 0;  // over freedom: the variance of one value
  double freedom = 0;
};

GroupMoments moments_of(std::vector<double> known, bool of_pairs) {
  constexpr std::size_t kTrimmedFrom = 7;
  std::ranges::sort(known);
  const auto count = static_cast<double>(known.size());
  GroupMoments moments{.mean = known.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(known),
                       .count = count,
                       .squares = 0,
                       .freedom = std::max(count - 1, 0.0)};
  double scale = 1;
  double center = moments.mean;
  if (of_pairs && known.size() >= kTrimmedFrom) {
    moments.mean = mean(std::span(known).subspan(1, known.size() - 2));
    known.front() = known[1];
    known.back() = known[known.size() - 2];
    center = mean(known);
    moments.freedom = count - 3;
    scale = count / (count - 2);  // variance of the trimmed mean, times the runs
  }
  for (const double value : known) {
    moments.squares += scale * (value - center) * (value - center);
  }
  return moments;
}

}  // namespace

std::vector<RunGroup> groups_of(const RunsToCompare& runs) {
  if (runs.paired && runs.base.size() > 1) {
    RunGroup pairs{.runs = {}, .coefficient = 1};
    for (std::size_t i = 0; i < runs.base.size(); ++i) {
      pairs.runs.push_back(difference(runs.base[i], runs.next[i]));
    }
    return {pairs};
  }
  std::vector<RunGroup> groups{{.runs = runs.base, .coefficient = -1}, {.runs = runs.next, .coefficient = 1}};
  if (runs.base.size() == 1 && runs.next.size() == 1 && runs.history.size() > 1) {
    groups.push_back({.runs = runs.history, .coefficient = 0});
  }
  return groups;
}

RunContrast contrast_of(const std::vector<RunGroup>& groups, const ByRun& values) {
  RunContrast contrast;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> known;
    std::ranges::copy_if(values[g], std::back_inserter(known),
                         [](double value) { return !std::isnan(value); });
    const GroupMoments moments = moments_of(known, groups.size() == 1);
    contrast.means.push_back(moments.mean);
    if (groups[g].coefficient != 0) {
      contrast.change += groups[g].coefficient * moments.mean;
      contrast.factor += 1 / moments.count;
    }
    if (known.size() > 1) {
      contrast.squares += moments.squares;
      for (const double value : known) {
        contrast.farthest = std::max(contrast.farthest, std::abs(value - moments.mean) *
                                                            std::sqrt(moments.count / (moments.count - 1)));
      }
    }
    contrast.freedom += moments.freedom;
  }
  return contrast;
}

}  // namespace bench
