// What it is worth that workers give way to the consumer's thread: the same pipeline once with the waits for
// a core that were noted beside such workers, and once with those noted beside others.
#include <algorithm>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"
#include "sweeps/workers/profile_parts.h"

namespace bench::sweeps {
namespace {

double gained(const SimulatedUnyielding& point) {
  return point.au - point.au_unyielding;
}

}  // namespace

std::vector<SimulatedUnyielding> simulate_unyielding(const LoaderPoints& points, const Profile& profile,
                                                     const WhatIf& what_if) {
  const auto wake = wake_of_both(points, profile);
  std::vector<SimulatedUnyielding> all;
  if (!wake || profile.consumer_on_cores) {  // there, such waits are part of the consumer's slowdown
    return all;
  }
  for (const LoaderPoint& point : points.pool) {
    if (point.workers == 0) {
      continue;  // nobody is on the cores but the thread itself
    }
    simulator::Pipeline pipeline = asked(profile, what_if, point.workers);
    pipeline.wake = wake->yielding;
    SimulatedUnyielding both{.workers = point.workers, .au = simulate_point(profile, pipeline).au};
    pipeline.wake = wake->unyielding;
    both.au_unyielding = simulate_point(profile, pipeline).au;
    all.push_back(both);
  }
  return all;
}

std::optional<Finding> claim_nice(const ResultDocument& document, const LoaderEvidence& evidence) {
  if (!evidence.simulated || evidence.simulated->unyielding.empty()) {
    return std::nullopt;
  }
  constexpr double kWorthIt = 0.01;
  const SimulatedUnyielding& most = evidence.simulated->unyielding.back();
  const auto nice = static_cast<std::int64_t>(number_or(loader_note(document, "nice"), 0));
  std::vector<std::string> names;
  for (const LoaderPoint& point : evidence.points.capacity) {
    names.push_back(point.name);
  }
  Finding finding = claim_of("nice", "points", std::move(names));
  finding.value = 100 * gained(most);
  finding.details = {{"nice", nice}, {"workers", most.workers}};
  if (gained(most) < kWorthIt) {
    finding.claim = fmt::format(
        "The workers are nice ({}) and give way to the consumer's thread, which makes no difference here "
        "(simulated: {} at most).",
        nice, points_text(std::max(0.0, gained(most))));
    return finding;
  }
  finding.claim = fmt::format(
      "The workers are nice ({}): the consumer's thread gets a core at once when a step ends. Beside {} that "
      "are not, AU "
      "would be up to {} lower (simulated, from waits beside workers that never rest). In PyTorch, a "
      "worker_init_fn that "
      "calls os.nice({}) makes them nice.",
      nice, workers_text(most.workers), points_text(gained(most)), nice);
  if (std::ranges::any_of(evidence.points.capacity, &LoaderPoint::few_rounds)) {
    finding.claim += " This is from too few rounds: another run may differ by much.";
  }
  return finding;
}

}  // namespace bench::sweeps
