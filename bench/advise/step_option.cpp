#include "bench/advise/step_option.h"

#include <cmath>

#include "bench/stats/statistics.h"

namespace bench {

StepOption step_option(const StepModel& model, const TrainingSettings& settings) {
  return {.settings = settings, .step = model.at(settings)};
}

Ratio speedup(const StepOption& now, const StepOption& then) {
  const bool same_point =
      then.settings.batch == now.settings.batch && then.settings.dtype == now.settings.dtype;
  // Both use one measured time of the device: its error cancels in the ratio.
  const double device = same_point
                            ? std::abs(now.step.device_deviation - then.step.device_deviation)
                            : combined_deviation({now.step.device_deviation, then.step.device_deviation});
  // So do steps of one number of cards.
  const double exchange =
      now.settings.cards == then.settings.cards
          ? std::abs(now.step.exchange_deviation - then.step.exchange_deviation)
          : combined_deviation({now.step.exchange_deviation, then.step.exchange_deviation});
  const double deviation =
      combined_deviation({device, exchange, now.step.loading_deviation, then.step.loading_deviation});
  return deviating(now.sample_ns() / then.sample_ns(), deviation, kAdviceLevel);
}

}  // namespace bench
