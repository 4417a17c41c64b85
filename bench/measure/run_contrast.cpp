#include "bench/measure/run_contrast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

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
    double sum = 0;
    double count = 0;
    for (const double value : values[g]) {
      sum += std::isnan(value) ? 0 : value;
      count += std::isnan(value) ? 0 : 1;
    }
    const double mean = contrast.means.emplace_back(sum / count);
    if (groups[g].coefficient != 0) {
      contrast.change += groups[g].coefficient * mean;
      contrast.factor += 1 / count;
    }
    for (const double value : values[g]) {
      if (!std::isnan(value) && count > 1) {
        const double away = std::abs(value - mean);
        contrast.squares += away * away;
        contrast.farthest = std::max(contrast.farthest, away * std::sqrt(count / (count - 1)));
      }
    }
    contrast.freedom += std::max(count - 1, 0.0);
  }
  return contrast;
}

}  // namespace bench
