// The time that a run has, from before its device is opened, and how much of it is gone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "bench/clock.h"
#include "bench/text/units.h"

namespace bench {

struct RunProgress {
  double fraction = 0;  // the larger of the spent shares of time and rounds; may exceed 1
  std::string what;     // "round 2: batch/resnet50/infer/fp32/batch:8"
  std::chrono::nanoseconds elapsed{};
  std::chrono::nanoseconds left{};  // at most; below 0: the run exceeds its budget by so much
};

class RunBudget {
 public:
  // `given`: by the user; there is only this `share` of it. The clock outlives the budget.
  RunBudget(const Clock& clock, Clock::time_point started, std::chrono::nanoseconds given, double share = 1)
      : clock_(&clock),
        started_(started),
        given_ns_(static_cast<double>(given.count())),
        total_ns_(share * given_ns_) {}

  Clock::time_point started() const { return started_; }
  // So much of what has passed is not counted.
  void leave_out(std::chrono::nanoseconds spent) { started_ += spent; }
  double elapsed_ns() const { return clock_->since_ns(started_); }
  double total_ns() const { return total_ns_; }
  double left_ns() const { return total_ns_ - elapsed_ns(); }

  // For messages: as the user gave it, though there is only a share of it.
  std::string name() const { return fmt::format("the time budget of {}", format_duration(given_ns_)); }

  // `fraction` of the rounds are done; more of the time may be.
  RunProgress progress(const std::string& what, double fraction = 0) const {
    const auto duration = [](double ns) { return std::chrono::nanoseconds(static_cast<std::int64_t>(ns)); };
    return {.fraction = std::max(fraction, elapsed_ns() / total_ns_),
            .what = what,
            .elapsed = duration(elapsed_ns()),
            .left = duration(left_ns())};
  }

 private:
  const Clock* clock_;
  Clock::time_point started_;
  double given_ns_;
  double total_ns_;
};

}  // namespace bench
