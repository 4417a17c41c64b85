// How a time budget is shared among points. Pure arithmetic; all times in nanoseconds.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// Cost of one repetition of a point whose workload was made before.
struct PointCost {
  double setup_ns = 0;  // making the workload again and warming it up
  double step_ns = 0;   // one sample
};

// Time to give `rounds` rounds of one sample each.
double minimum_cost_ns(const PointCost& cost, std::int64_t rounds);

// A point that has not been made yet.
struct CandidateCost {
  double first_setup_ns = 0;  // a card also builds plans, compiles and autotunes then
  PointCost again;
};

// The cost of a series' last prepared point.
struct SeriesCost {
  double make_ns = 0;     // for the first time: a card builds and compiles plans then
  double warm_up_ns = 0;  // its first steps: pages are touched for the first time, a card autotunes
  double again_ns = 0;    // making it again and warming it up
};

// Whether the time left suffices to prepare the candidate (first setup, verification, warm-up), to run its
// first repetition, and to run `rounds` - 1 further rounds of it and of the ready points, whose first round
// is done.
bool has_room(std::span<const PointCost> ready, const CandidateCost& candidate, double left_ns,
              std::int64_t rounds);

// Sampling time for each of the `repetitions_left`: the time left after their fixed costs, shared equally; at
// least 0.
double slice_ns(double left_ns, double fixed_costs_ns, std::int64_t repetitions_left);

}  // namespace bench
