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

std::string_view name_of(StepLimit limit) {
  switch (limit) {
    case StepLimit::compute:
      return "compute";
    case StepLimit::memory:
      return "memory";
    case StepLimit::overhead:
      return "launch/overhead";
    case StepLimit::unknown:
      return "unknown";
  }
  return "?";
}

LimitReport find_limit(const Work& work, const Peaks& peaks, double step_ns) {
  LimitReport report;
  if (peaks.flops_per_s > 0) {
    report.compute_share = work.flops / peaks.flops_per_s * 1e9 / step_ns;
  }
  if (peaks.bytes_per_s > 0) {
    report.memory_share = (work.fixed_bytes + work.sample_bytes) / peaks.bytes_per_s * 1e9 / step_ns;
    report.fixed_bytes_ns = work.fixed_bytes / peaks.bytes_per_s * 1e9;
  }
  const double compute = report.compute_share.value_or(0);
  const double memory = report.memory_share.value_or(0);
  if (compute >= 0.5 || memory >= 0.5) {
    report.limit = compute >= memory ? StepLimit::compute : StepLimit::memory;
  } else if (report.compute_share && report.memory_share) {
    report.limit = StepLimit::overhead;
  }
  return report;
}

}  // namespace bench
