#include "bench/stats/step_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {

std::vector<StepTimePoint> same_work(std::span<const StepTimePoint> points) {
  std::vector<StepTimePoint> by_work(points.begin(), points.end());
  std::ranges::sort(by_work, {}, &StepTimePoint::flops_per_sample);
  std::span<const StepTimePoint> best;
  const auto largest_batch = [](std::span<const StepTimePoint> group) {
    return std::ranges::max(group, {}, &StepTimePoint::batch).batch;
  };
  std::size_t first = 0;
  for (std::size_t last = 0; last < by_work.size(); ++last) {
    while (first < last &&
           by_work[first].flops_per_sample < by_work[last].flops_per_sample * (1 - kSameWork)) {
      ++first;
    }
    const auto group = std::span(by_work).subspan(first, last - first + 1);
    if (group.size() > best.size() ||
        (group.size() == best.size() && largest_batch(group) > largest_batch(best))) {
      best = group;
    }
  }
  std::vector<StepTimePoint> same(best.begin(), best.end());
  std::ranges::sort(same, {}, &StepTimePoint::batch);
  return same;
}

std::optional<StepTimeModel> fit_step_time(std::span<const StepTimePoint> points) {
  StepTimeModel model;
  std::vector<double> batches;
  std::vector<double> times;
  std::vector<double> weights;
  for (const StepTimePoint& point : same_work(points)) {
    if (model.batches.empty() || model.batches.back() != point.batch) {
      model.batches.push_back(point.batch);
    }
    batches.push_back(static_cast<double>(point.batch));
    times.push_back(point.step_ns);
    weights.push_back(1 / (point.step_ns * point.step_ns));
  }
  const auto line = fit_line(batches, times, weights);
  if (!line || model.batches.size() < kFewestBatches) {
    return std::nullopt;
  }
  model.t0_ns = line->intercept;
  if (line->slope.value > 0) {
    model.t_inf_per_s = inverse(line->slope, 1e9);
  }
  model.r_squared = line->r_squared;
  for (std::size_t i = 0; i < times.size(); ++i) {
    model.max_relative_residual =
        std::max(model.max_relative_residual, std::abs(line->residuals[i]) / times[i]);
  }
  model.t0_above_zero = model.t0_ns.ci95 && model.t0_ns.low() > 0;
  model.holds = model.t_inf_per_s && model.max_relative_residual <= kModelTolerance;
  return model;
}

}  // namespace bench
