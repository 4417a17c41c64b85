// The time that a run's points have.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "bench/clock.h"
#include "bench/measure/units.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

class RunBudget {
 public:
  // All outlive it.
  RunBudget(const SweepPlan& plan, const RunSettings& settings, const Clock& clock)
      : share_(plan.share_of_budget),
        settings_(settings),
        clock_(clock),
        total_ns_(share_ * static_cast<double>(settings.time_budget.count())) {}

  double left_ns() const { return total_ns_ - clock_.since_ns(settings_.started); }

  // For messages: the budget as the user gave it, though points may have but a share of it.
  std::string name() const {
    return fmt::format("the time budget of {}",
                       format_duration(static_cast<double>(settings_.time_budget.count())));
  }

  // `fraction` of the rounds are done; more of the time may be.
  RunProgress progress(const std::string& what, double fraction) const {
    const double elapsed_ns = clock_.since_ns(settings_.started);
    return {.fraction = std::clamp(std::max(fraction, elapsed_ns / total_ns_), 0.0, 1.0),
            .what = what,
            .elapsed = std::chrono::nanoseconds(static_cast<std::int64_t>(elapsed_ns)),
            .left = std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, left_ns())))};
  }

 private:
  double share_;
  const RunSettings& settings_;
  const Clock& clock_;
  double total_ns_;
};

}  // namespace bench
