#include "bench/commands/run_settings.h"

#include <algorithm>

#include "bench/run/interrupt.h"

namespace bench {

RunSettings run_settings(const Options& options, const SweepRequest& request, const SweepPlan& plan,
                         std::chrono::nanoseconds spent) {
  RunSettings settings;
  settings.time_budget = options.time_budget;
  settings.memory_cap = request.largest_cap();
  settings.already_spent = spent;
  settings.seed = options.seed;
  settings.growing_rounds = plan.rounds_when_growing;
  settings.max_rounds = plan.most_rounds;
  settings.trusted_rounds = plan.trusted_rounds;
  settings.max_samples = plan.most_samples;
  if (options.benchmark.repetitions > 0) {
    // Fewer rounds than three cannot know the spread between them.
    settings.min_rounds = std::max(settings.min_rounds, options.benchmark.repetitions);
    settings.wanted_rounds = std::max(settings.wanted_rounds, settings.min_rounds);
    settings.growing_rounds = std::max(settings.growing_rounds, settings.min_rounds);
    settings.max_rounds = std::max(settings.max_rounds, settings.min_rounds);
  }
  return settings;
}

std::size_t errors_in(const ResultDocument& document) {
  return static_cast<std::size_t>(
             std::ranges::count(document.unmeasured, "error", &UnmeasuredPoint::status)) +
         (document.sweep.contains("lost") ? document.sweep["lost"].size() : 0);
}

bool only_first_measured(const SweepPlan& plan, const ResultDocument& document) {
  const auto is_first = [&](const MeasuredPoint& measured) {
    return std::ranges::any_of(
        plan.points, [&](const SweepPoint& point) { return point.first && point.name == measured.name; });
  };
  return !document.benchmarks.empty() && std::ranges::all_of(document.benchmarks, is_first) &&
         std::ranges::any_of(document.unmeasured,
                             [](const UnmeasuredPoint& point) { return point.status == "skipped"; });
}

ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document) {
  if (interrupted()) {
    return ExitCode::interrupted;
  }
  // Out of memory and unsupported are answers; a budget that left no point measured is none.
  const bool none = document.benchmarks.empty() &&
                    std::ranges::any_of(document.unmeasured, [](const UnmeasuredPoint& point) {
                      return point.status == "skipped";
                    });
  const bool unanswered = none || only_first_measured(plan, document);
  return errors_in(document) > 0 || unanswered ? ExitCode::inconclusive : ExitCode::done;
}

}  // namespace bench
