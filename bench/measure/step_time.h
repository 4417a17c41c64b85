// The step-time model t(b) = t0 + b / T∞, and the lower bounds that explain a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/measure/fit.h"
#include "bench/workload.h"

namespace bench {

struct StepTimePoint {
  std::int64_t batch = 0;       // samples in a step, at least 1
  double step_ns = 0;           // median, positive
  double flops_per_sample = 0;  // done by the algorithms that ran; 0: not known
};

inline constexpr double kSameWork = 0.01;  // of the work a sample: how far points that do the same lie apart
inline constexpr std::size_t kFewestBatches = 3;  // two always lie on a line

// The points that do the same work a sample, by batch: the largest group whose work differs by 1 % at most,
// of equal groups the one with the largest batch. A library that takes Winograd's algorithm from some batch
// on does less work a sample there: a line through both sides would call the difference a fixed cost. Points
// whose work is not known are a group of their own.
std::vector<StepTimePoint> same_work(std::span<const StepTimePoint> points);

struct StepTimeModel {
  Estimate t0_ns;  // a step's cost before any sample; may come out negative
  std::optional<Estimate>
      t_inf_per_s;  // samples a second beyond t0; none where the fitted slope is not positive
  double r_squared = 0;
  double max_relative_residual = 0;   // of the measured step time
  std::vector<std::int64_t> batches;  // that it was fitted to, growing
  bool t0_above_zero = false;         // the whole interval of t0 is
  bool holds = false;                 // T∞ exists and no residual passes 10 %
};

inline constexpr double kModelTolerance = 0.10;

// Fitted to the points of same_work(), with weights 1/t²: errors of a time are in proportion to it, so each
// point counts by its relative error and the largest batches do not outvote the rest. T∞'s interval is the
// slope's, inverted, and absent where the slope's reaches zero. nullopt where fewer than three different
// batches do the same work.
std::optional<StepTimeModel> fit_step_time(std::span<const StepTimePoint> points);

enum class StepLimit { compute, memory, launch, implementation, unknown };

std::string_view name_of(StepLimit limit);  // as above

struct LimitReport {
  StepLimit limit = StepLimit::unknown;
  // Shares of the measured step that the device's peak rates account for: flops / peak, and bytes /
  // bandwidth. Above 1 where the work was less than counted or data stayed in a cache. None where the peak is
  // unknown.
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  // Share that starting the step's operations takes: launches · the cost of one. None where that was not
  // measured.
  std::optional<Estimate> launch_share;
  std::optional<double> fixed_bytes_ns;  // the part of the memory bound that reading the weights takes
};

// The larger bound where it explains at least half of the step (memory and compute overlap at best). Where
// both are known and neither does: launch if starting the operations surely takes half of the step, the whole
// interval of its share; else implementation, kernels below both roofs at this size. `launch_ns`: the cost of
// starting one operation; none where it was not measured. Step time positive.
LimitReport find_limit(const Work& work, const Peaks& peaks, const Estimate& step_ns,
                       const std::optional<Estimate>& launch_ns = std::nullopt);

}  // namespace bench
