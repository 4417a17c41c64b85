// How the rate of a loader grows with the workers that compute at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench::simulator {

// Images a second with `active` workers computing. Up to the cores it is the universal scalability law
// (Gunther 2007), λa / (1 + σ(a-1) + κa(a-1)): σ is contention, κ what each pair of workers costs (caches,
// memory bandwidth). Beyond the cores the rate does not grow: the system shares them out, and each doubling
// of the workers costs the oversubscription penalty. A worker that computes for part of the time counts as
// that part.
struct ScalabilityLaw {
  double one = 1;  // samples a second of one worker alone: λ
  double sigma = 0;
  double kappa = 0;
  double oversubscription = 0;
  double cores = 1;

  double at(double active) const;
  // The speed of each of `active` workers, as a part of one worker's alone.
  double speed_of_each(double active) const { return active > 0 ? at(active) / one / active : 1; }
  double best(std::int64_t most_workers) const;  // the highest rate of 1 to so many
};

struct CapacityPoint {
  double active = 0;  // workers computing at once, on average
  double samples_per_s = 0;
  Interval ci95;
};

struct LawFit {
  ScalabilityLaw law{};
  Interval one_ci95{};
  Interval sigma_ci95{};
  Interval kappa_ci95{};
  double worst_error = 0;     // of a point, as a part of it
  bool beyond_cores = false;  // points with more active workers than cores were fitted
  double largest_active = 0;
  std::vector<ScalabilityLaw> refits{};  // that the intervals come from
};

// Least squares of the relative errors; σ, κ and the penalty are not negative. Two points give σ and take κ
// for 0, one point takes both for 0. κ and the penalty are 0 where less than twice their standard error:
// noise of few points would grow with the workers. The intervals come from refits with every point drawn
// within its own, so that two points have one too. Throws std::invalid_argument for no points, and values
// that are not positive.
LawFit fit_law(std::span<const CapacityPoint> measured, double cores, std::uint64_t seed);

}  // namespace bench::simulator
