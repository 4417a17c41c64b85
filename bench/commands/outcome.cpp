#include "bench/commands/outcome.h"

#include <algorithm>

#include "bench/host/interrupt.h"

namespace bench {

std::size_t errors_in(const ResultDocument& document) {
  const auto points = std::ranges::count(document.unmeasured, "error", &UnmeasuredPoint::status);
  return static_cast<std::size_t>(points) + document.sweep.lost.size();
}

bool only_references_measured(const SweepPlan& plan, const ResultDocument& document) {
  const auto is_reference = [&](const MeasuredPoint& measured) {
    return std::ranges::any_of(plan.points, [&](const SweepPoint& point) {
      return point.is_reference && point.name == measured.name;
    });
  };
  return !document.benchmarks.empty() && std::ranges::all_of(document.benchmarks, is_reference) &&
         std::ranges::any_of(document.unmeasured,
                             [](const UnmeasuredPoint& point) { return point.status == "skipped"; });
}

ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document) {
  if (interrupted()) {
    return ExitCode::interrupted;
  }
  const bool nothing = document.benchmarks.empty() && !plan.points.empty();
  return nothing || errors_in(document) > 0 || only_references_measured(plan, document)
             ? ExitCode::inconclusive
             : ExitCode::done;
}

}  // namespace bench
