#include "bench/commands/expected_duration.h"

#include <algorithm>
#include <numeric>

#include "bench/stats/rounds.h"

namespace bench {
namespace {

constexpr double kStartNs = 5e8;     // the program, its plan, and the picture
constexpr double kPeakNs = 5e8;      // of one dtype
constexpr double kSetupNs = 10e6;    // of a round of a point: calibrating, and writing the file
constexpr double kBytesPerNs = 1;    // allocating and filling what a point holds
constexpr double kLongestNs = 5e8;   // of a repetition
constexpr double kVerifySteps = 10;  // of the reference implementation, one by one
constexpr double kRounds = 28;       // precise points stop at 10 to 20, noisy ones at 40
// Other programs take turns on the cores: steps and setting up take longer, every round waits for a core, and
// intervals stay wide until the last round.
constexpr double kBusySlowdown = 1.5;
constexpr double kBusySetupNs = 300e6;
constexpr double kOwnShare = 0.4;  // of the budget left after the points: the sweep's own measurements

}  // namespace

double rough_step_ns(const SweepPoint& point, Device& device, std::int64_t planned_bytes) {
  const bool on_cores = device.info().kind == "cpu";
  const double cores = std::max(1, device.info().compute_units);
  const double least_ns = on_cores ? 15e3 : 50e3;
  const double macs_per_ns = on_cores ? 30 * cores : 3000;
  const double bytes_per_ns = on_cores ? cores : 100;
  double ns = static_cast<double>(planned_bytes) / bytes_per_ns;
  if (const auto made_of = point.workload->composition(device); made_of && made_of->macs > 0) {
    constexpr double kTraining = 3;
    ns = made_of->macs * static_cast<double>(point.spec.batch) *
         (point.spec.mode == "train" ? kTraining : 1) / macs_per_ns;
  }
  constexpr double kEmptyCachesNs = 15e6;  // writing more than a large cache holds
  ns += point.cold && on_cores ? kEmptyCachesNs : 0;
  return std::max(point.workload->least_cost().step_ns, least_ns + ns);
}

ExpectedDuration expected_duration(const ExpectedRun& run) {
  const bool busy = run.cores_are_busy;
  const auto points = static_cast<double>(run.points.size());
  const auto most_rounds = static_cast<double>(run.rounds.at_most);
  const double rounds = run.asked_rounds > 0 ? static_cast<double>(run.asked_rounds)
                        : busy               ? most_rounds
                                             : std::min(most_rounds, kRounds);
  const double points_budget_ns = run.share_of_budget * run.budget_ns;
  const double slice_ns = std::min(kLongestNs, points_budget_ns / std::max(1.0, points * rounds));
  double ns = kStartNs + kPeakNs * static_cast<double>(run.dtypes);
  for (const ExpectedPoint& point : run.points) {
    const double slowdown = busy ? kBusySlowdown : 1;
    const double step_ns = slowdown * point.step_ns;
    const double setup_ns =
        kSetupNs + slowdown * static_cast<double>(point.bytes) / kBytesPerNs + (busy ? kBusySetupNs : 0);
    const auto samples =
        static_cast<double>(samples_for_repetition(step_ns, slice_ns, run.rounds.samples, 3));
    ns += kVerifySteps * step_ns + rounds * (setup_ns + run.warm_up.longest_ns(step_ns) + samples * step_ns);
  }
  const bool by_budget = ns > points_budget_ns;
  const double own_ns = kOwnShare * (run.budget_ns - points_budget_ns);
  return {.ns = std::min(ns, points_budget_ns) + own_ns, .by_budget = by_budget && run.share_of_budget == 1};
}

bool busy_by_load(double load, int usable_cores) {
  return load > usable_cores;
}

}  // namespace bench
