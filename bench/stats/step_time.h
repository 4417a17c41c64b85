// The step-time model t(b) = t0 + b / T∞.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/stats/fit.h"

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

}  // namespace bench
