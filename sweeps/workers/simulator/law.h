// How the rate of a loader grows with the workers that compute at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench::simulator {

// Images a second with `active` workers computing. Up to the cores it is the universal scalability law
// (Gunther 2007), λa / (1 + σ(a-1) + κa(a-1)): σ is what they wait for each other, κ what they cost each
// other pair by pair (caches, memory bandwidth). Beyond the cores nothing is gained: the system shares the
// cores out, and loses `crowding` to that with each doubling of the workers. A part of a worker is one that
// computes for that part of the time.
struct ScalabilityLaw {
  double one = 1;  // images a second of one worker alone: λ
  double sigma = 0;
  double kappa = 0;
  double crowding = 0;
  double cores = 1;

  double at(double active) const;
  // What one of `active` workers gets done, in parts of what it would alone.
  double speed_of_each(double active) const { return active > 0 ? at(active) / one / active : 1; }
  double best(std::int64_t most_workers) const;  // the highest rate of 1 to so many
};

struct CapacityPoint {
  double active = 0;  // workers computing at once, on average
  double images_per_s = 0;
  Interval ci95;
};

struct LawFit {
  ScalabilityLaw law;
  Interval one_ci95;
  Interval sigma_ci95;
  Interval kappa_ci95;
  double worst_error = 0;     // of a point, as a part of it
  bool beyond_cores = false;  // points with more active workers than cores stand behind it
  double largest_active = 0;
};

// Least squares of the relative errors, σ, κ and crowding not below 0; two points tell σ and take κ for 0,
// one point takes both for 0. κ and crowding are 0 where less than twice their standard error: what chance
// made of few points would grow with the workers. The intervals come from drawing every point anew within its
// own, so that two points have one too. Throws std::invalid_argument for no points, and values that are not
// positive.
LawFit fit_law(std::span<const CapacityPoint> measured, double cores, std::uint64_t seed);

}  // namespace bench::simulator
