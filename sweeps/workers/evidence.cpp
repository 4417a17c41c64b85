#include "sweeps/workers/evidence.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/measure/finding.h"
#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

// The knee of the counts below `end`.
std::optional<Knee> knee_of(const std::vector<LoaderPoint>& pool, std::int64_t end) {
  std::vector<WorkersValue> au;
  for (const LoaderPoint& point : pool) {
    if (point.au && point.workers < end) {
      au.push_back({point.workers, with_interval(*point.au)});
    }
  }
  return find_knee(au);
}

}  // namespace

std::optional<Knee> Evidence::measured_knee() const {
  return knee_of(points.pool, std::numeric_limits<std::int64_t>::max());
}

std::optional<Knee> Evidence::harmless_knee() const {
  const auto found = harm();
  return found ? knee_of(points.pool, found->from) : measured_knee();
}

std::optional<Harm> Evidence::harm() const {
  std::vector<WorkersValue> rates;
  for (const LoaderPoint& point : points.pool) {
    rates.push_back({point.workers, with_interval(point.samples_per_s)});
  }
  const auto from = find_harm(rates);
  if (!from) {
    return std::nullopt;
  }
  return Harm{.from = *from,
              .best = &*std::ranges::max_element(
                  points.pool, {}, [](const LoaderPoint& point) { return point.samples_per_s.value; })};
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
