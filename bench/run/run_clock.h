// The time that a run's points have.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

class RunClock {
 public:
  // Both outlive it. Starts now, or earlier by what the processes before this one have spent.
  RunClock(const SweepPlan& plan, const RunSettings& settings)
      : plan_(plan),
        settings_(settings),
        budget_(static_cast<std::int64_t>(plan.share_of_budget *
                                          static_cast<double>(settings.time_budget.count()))),
        start_(std::chrono::steady_clock::now() - settings.already_spent) {}

  std::chrono::nanoseconds budget() const { return budget_; }  // the points' share of the one that was given
  double elapsed_ns() const {
    return static_cast<double>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
            .count());
  }
  double left_ns() const { return static_cast<double>(budget_.count()) - elapsed_ns(); }

  // As it was given: nobody asked for a part of it.
  std::string named_budget() const {
    const std::string given = format_duration(static_cast<double>(settings_.time_budget.count()));
    return plan_.share_of_budget < 1 ? fmt::format("the {} that points have of the time budget of {}",
                                                   format_percent(plan_.share_of_budget), given)
                                     : fmt::format("the time budget of {}", given);
  }

  // `fraction` of the rounds are done; the time may be further.
  RunProgress progress(const std::string& what, double fraction) const {
    RunProgress progress;
    progress.fraction =
        std::clamp(std::max(fraction, elapsed_ns() / static_cast<double>(budget_.count())), 0.0, 1.0);
    progress.what = what;
    progress.elapsed = std::chrono::nanoseconds(static_cast<std::int64_t>(elapsed_ns()));
    progress.left = std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, left_ns())));
    return progress;
  }

 private:
  const SweepPlan& plan_;
  const RunSettings& settings_;
  std::chrono::nanoseconds budget_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace bench
