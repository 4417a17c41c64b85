#include "sweeps/workers/evidence.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/measure/finding.h"
#include "bench/measure/units.h"

namespace bench::sweeps {

std::optional<Knee> Evidence::measured_knee() const {
  std::vector<WorkersValue> au;
  for (const LoaderPoint& point : points.pool) {
    if (point.au) {
      au.push_back({point.workers, with_interval(*point.au)});
    }
  }
  return find_knee(au);
}

std::optional<Knee> Evidence::simulated_knee(bool measured_counts_only) const {
  std::vector<WorkersValue> au;
  for (const SimulatedPoint& point : simulated ? simulated->points : std::vector<SimulatedPoint>()) {
    if (!measured_counts_only || points.at(point.workers) != nullptr) {
      au.push_back({point.workers, {.value = point.au}});
    }
  }
  return find_knee(au);
}

const SimulatedPoint* Evidence::simulated_at(std::int64_t workers) const {
  if (!simulated) {
    return nullptr;
  }
  const auto found = std::ranges::find(simulated->points, workers, &SimulatedPoint::workers);
  return found == simulated->points.end() ? nullptr : &*found;
}

Estimate with_interval(Estimate estimate) {
  if (!estimate.ci95) {
    estimate.ci95 = Interval{0, 2 * estimate.value};
  }
  return estimate;
}

std::string workers_text(std::int64_t workers) {
  return workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string rate_text(double per_s) {
  return fmt::format("{} samples/s", format_number(per_s));
}

std::string au_text(const Estimate& au) {
  return "AU " + (au.ci95 ? plus_minus(au.value, au.ci95) : fmt::format("{:.2f}", au.value));
}

std::vector<std::string> names_of(const std::vector<LoaderPoint>& points) {
  std::vector<std::string> names;
  for (const LoaderPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

}  // namespace bench::sweeps
