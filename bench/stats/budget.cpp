#include "bench/stats/budget.h"

#include <algorithm>

namespace bench {
namespace {

// Verification and two warm-up steps.
constexpr double kPreparingSteps = 3;

}  // namespace

double minimum_cost_ns(const PointCost& cost, std::int64_t rounds) {
  return static_cast<double>(rounds) * (cost.setup_ns + cost.step_ns);
}

bool has_room(std::span<const PointCost> ready, const CandidateCost& candidate, double left_ns,
              std::int64_t rounds) {
  double needed = candidate.first_setup_ns + (kPreparingSteps + 1) * candidate.again.step_ns +
                  minimum_cost_ns(candidate.again, rounds - 1);
  for (const PointCost& cost : ready) {
    needed += minimum_cost_ns(cost, rounds - 1);
  }
  return needed <= left_ns;
}

double slice_ns(double left_ns, double fixed_costs_ns, std::int64_t repetitions_left) {
  return std::max(0.0, left_ns - fixed_costs_ns) /
         static_cast<double>(std::max<std::int64_t>(1, repetitions_left));
}

}  // namespace bench
