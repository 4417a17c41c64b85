#include "bench/measure/step_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {
std::optional<StepTimeModel> fit_step_time(std::span<const StepTimePoint> points) {
  std::vector<double> batches;
  std::vector<double> times;
  std::vector<double> weights;
  for (const StepTimePoint& point : points) {
    batches.push_back(static_cast<double>(point.batch));
    times.push_back(point.step_ns);
    weights.push_back(1 / (point.step_ns * point.step_ns));
  }
  const auto line = fit_line(batches, times, weights);
  if (!line) {
    return std::nullopt;
  }
  StepTimeModel model;
  model.t0_ns = line->intercept;
  if (line->slope.value > 0) {
    model.t_inf_per_s = inverse(line->slope, 1e9);
  }
  model.r_squared = line->r_squared;
  model.points = points.size();
  for (std::size_t i = 0; i < times.size(); ++i) {
    model.max_relative_residual =
        std::max(model.max_relative_residual, std::abs(line->residuals[i]) / times[i]);
  }
  model.t0_above_zero = model.t0_ns.ci95 && model.t0_ns.low() > 0;
  model.holds = model.t_inf_per_s && model.max_relative_residual <= kModelTolerance;
  return model;
}

}  // namespace bench
