// Dynamic loss scaling, without which fp16 loses small gradients: it holds nothing below 6e-8, and few digits
// below 6e-5 (Micikevicius et al. 2017, arXiv:1710.03740). The gradient of the loss is multiplied by a
// factor, so all gradients are; the optimizer divides by it. Where a gradient has become infinite or no
// number, the step is left out and the factor halved; after kGrowthInterval steps without, it is doubled. The
// numbers are those of PyTorch's GradScaler.
//
// It lies in the device's memory and is read and changed there: a step recorded once goes on adapting it, and
// the host waits for nothing.
//
// find_overflow: diff_weights (input); loss_scale (state): notes whether one of `count` gradients is not
//                finite, and keeps what was noted before.
// update_loss_scale: loss_scale (state): once a step, after the optimizer.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/dtype.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// As the slot loss_scale stores it.
struct LossScale {
  static constexpr std::int32_t kGrowthInterval = 2000;  // steps

  float factor = 65536;         // a power of two: dividing by it is exact
  std::int32_t overflow = 0;    // in the step under way: 1 where a gradient is not finite
  std::int32_t good_steps = 0;  // since the factor last changed
};

struct FindOverflow {
  static constexpr std::string_view kName = "find_overflow";
  std::int64_t count = 0;
  Dtype dtype = Dtype::fp16;

  double flops() const { return static_cast<double>(count); }  // comparisons
  bool operator==(const FindOverflow&) const = default;
};

struct UpdateLossScale {
  static constexpr std::string_view kName = "update_loss_scale";

  static double flops() { return 1; }
  bool operator==(const UpdateLossScale&) const = default;
};

PlainSlots plain_slots(const FindOverflow& spec);
PlainSlots plain_slots(const UpdateLossScale& spec);

}  // namespace bench::kernels
