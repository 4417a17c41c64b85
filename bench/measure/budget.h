// How a time budget is shared among points. Pure arithmetic; all times in nanoseconds.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// Cost of one repetition of a point.
struct PointCost {
  double setup_ns = 0;  // making the workload and warming it up
  double step_ns = 0;   // one sample
};

// Time to give `rounds` rounds of one sample each.
double minimum_cost_ns(const PointCost& cost, std::int64_t rounds);

// Whether the time left suffices to prepare the candidate (setup, verification, warm-up), to run its first
// repetition, and to run `rounds` - 1 further rounds of it and of the ready points, whose first round is
// done.
bool has_room(std::span<const PointCost> ready, const PointCost& candidate, double left_ns,
              std::int64_t rounds);

// Sampling time for each of the `repetitions_left`: the time left after their fixed costs, shared equally; at
// least 0.
double slice_ns(double left_ns, double fixed_costs_ns, std::int64_t repetitions_left);

}  // namespace bench
