// Settings with the step that they give: what advice compares.
#pragma once

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/stats/ratio.h"

namespace bench {

// A gain that pays: so many times as fast, and surely more than 1, which is printed as 1.01 then.
inline constexpr double kWorthIt = 1.03;
inline constexpr double kSurely = 1.005;
constexpr bool is_worth(double speedup, double low) {
  return speedup >= kWorthIt && low >= kSurely;
}

struct StepOption {
  TrainingSettings settings;
  ModelledStep step;

  double sample_ns() const {
    return step.parts.step_ns / static_cast<double>(settings.batch * settings.cards);
  }
  double computing_ns() const {
    return step.parts.computing_ns / static_cast<double>(settings.batch * settings.cards);
  }
};

// Throws UsageError as StepModel::at() does.
StepOption step_option(const StepModel& model, const TrainingSettings& settings);

// The time of a sample now over that of a sample then, at kAdviceLevel.
Ratio speedup(const StepOption& now, const StepOption& then);

}  // namespace bench
