// How a time budget is shared among points. Pure arithmetic; all times in nanoseconds.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// What one visit to a point costs besides its samples.
struct PointCost {
  double setup_ns = 0;  // making the workload and warming it up
  double step_ns = 0;   // one sample
};

// Time to give `rounds` rounds of one sample each.
double minimum_cost_ns(const PointCost& cost, std::int64_t rounds);

// Whether a point may join: the points admitted so far and the candidate can all have `rounds` rounds, and
// the candidate's probe (setup, verification, warm-up) still fits before that.
bool admits(std::span<const PointCost> admitted, const PointCost& candidate, double left_ns,
            std::int64_t rounds);

// Sampling time for each of the `visits_left` mandatory visits: what is left after their fixed costs, shared
// equally; never less than nothing.
double slice_ns(double left_ns, double fixed_costs_ns, std::int64_t visits_left);

}  // namespace bench
