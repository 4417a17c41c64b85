// Measured times as the simulator draws them: few, and of a mean that is known better than theirs.
#include <algorithm>
#include <cmath>
#include <span>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

using simulator::mean_of;

std::vector<double> spread(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                           std::vector<double> LoaderPoint::*times) {
  std::vector<const LoaderPoint*> all;
  for (const auto* list : {&points.capacity, &points.pool}) {
    for (const LoaderPoint& point : *list) {
      if (point.workers != left_out && mean_of(point.*times) > 0) {
        all.push_back(&point);
      }
    }
  }
  std::ranges::stable_sort(all, {}, &LoaderPoint::workers);
  std::vector<double> parts;
  for (const LoaderPoint* const point : all) {
    if (parts.size() >= kEnoughTimes) {
      break;
    }
    const double mean = mean_of(point->*times);
    for (const double time : point->*times) {
      parts.push_back(time / mean);
    }
  }
  return parts;
}

std::vector<double> scaled(std::vector<double> parts, double mean) {
  if (parts.empty()) {
    return {mean};
  }
  parts = thinned(std::move(parts));
  const double by = mean / mean_of(parts);
  for (double& part : parts) {
    part *= by;
  }
  return parts;
}

std::vector<double> thinned(std::vector<double> values, std::size_t most) {
  if (values.size() <= most) {
    return values;
  }
  std::ranges::sort(values);
  std::vector<double> thin;
  const double whole = mean_of(values);
  for (std::size_t group = 0; group < most; ++group) {
    const std::size_t first = group * values.size() / most;
    const std::size_t last = (group + 1) * values.size() / most;
    thin.push_back(mean_of(std::span(values).subspan(first, last - first)));
  }
  const double off = whole / mean_of(thin);  // groups differ by one value
  for (double& value : thin) {
    value *= std::isfinite(off) ? off : 1;
  }
  return thin;
}

}  // namespace bench::sweeps
