// The step-time model t(b) = t0 + b / T∞, and the lower bounds that explain a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bench/device.h"
#include "bench/measure/fit.h"
#include "bench/workload.h"

namespace bench {

struct StepTimePoint {
  std::int64_t batch = 0;  // samples in a step, at least 1
  double step_ns = 0;      // median, positive
};

struct StepTimeModel {
  Estimate t0_ns;  // a step's cost before any sample; may come out negative
  std::optional<Estimate>
      t_inf_per_s;  // samples a second beyond t0; none where the fitted slope is not positive
  double r_squared = 0;
  double max_relative_residual = 0;  // of the measured step time
  std::size_t points = 0;
  bool t0_above_zero = false;  // the whole interval of t0 is
  bool holds = false;          // T∞ exists and no residual passes 10 %

  // Points enough to contradict the model: two always lie on a line.
  bool tested() const { return points > 2; }
};

inline constexpr double kModelTolerance = 0.10;

// Fitted with weights 1/t²: errors of a time are in proportion to it, so each point counts by its relative
// error and the largest batches do not outvote the rest. T∞'s interval is the slope's, inverted, and absent
// where the slope's reaches zero. nullopt for fewer than two different batches.
std::optional<StepTimeModel> fit_step_time(std::span<const StepTimePoint> points);

enum class StepLimit { compute, memory, overhead, unknown };

std::string_view name_of(StepLimit limit);  // "compute", "memory", "launch/overhead", "unknown"

struct LimitReport {
  StepLimit limit = StepLimit::unknown;
  // Shares of the measured step that the device's peak rates account for: flops / peak, and bytes /
  // bandwidth. Above 1 where the work was less than counted or data stayed in a cache. None where the peak is
  // unknown.
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  std::optional<double> fixed_bytes_ns;  // the part of the memory bound that reading the weights takes
};

// The larger bound where it explains at least half of the step (memory and compute overlap at best); overhead
// where both are known and neither does: launches, idle units, and kernels slower than the peak at this size.
// step_ns positive.
LimitReport find_limit(const Work& work, const Peaks& peaks, double step_ns);

}  // namespace bench
