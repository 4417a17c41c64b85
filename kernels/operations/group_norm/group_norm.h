// Group normalisation of maps and its gradient (Wu and He 2018, arXiv:1803.08494): of each sample, over the
// pixels of a group of neighbouring channels; with as many groups as channels, instance normalisation
// (Ulyanov et al. 2016, arXiv:1607.08022). With mean and (biased) variance of a group and x̂ = (src − mean) /
// √(variance + epsilon):
//   dst = scale[c] · x̂ + shift[c]
//   diff_shift[c] = Σ_{n,h,w} diff_dst        diff_scale[c] = Σ_{n,h,w} diff_dst · x̂
//   diff_src = 1/√(variance + epsilon) · (g − mean of g − x̂ · mean of g·x̂),   g = scale · diff_dst,
// the last means over the group.
//
// Slots. inference: src, scale, shift → dst.
//        training:  src, scale, shift → mean, variance, dst.
//        backward:  src, mean, variance (as training wrote them), scale, diff_dst
//                   → diff_src (may be diff_dst itself), diff_scale, diff_shift.
// Scale and shift, fp32[c], are there with `affine`; mean and variance are fp32[n · groups].
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// The layer's options in a network.
struct GroupNormOptions {
  std::int64_t groups = 1;  // 0: one for each channel
  float epsilon = 1e-5F;
  bool affine = true;
};

struct GroupNorm {
  static constexpr std::string_view kName = "group_norm";
  TensorDesc tensor;
  std::int64_t groups = 1;
  bool affine = true;
  bool training = false;
  Direction direction = Direction::forward;
  float epsilon = 1e-5F;

  bool forward() const { return direction == Direction::forward; }
  // Whether this pass writes mean and variance.
  bool saves() const { return forward() && training; }
  std::int64_t group_channels() const { return tensor.c / groups; }
  // As of layer norm.
  double flops() const { return static_cast<double>(tensor.elements()) * (forward() ? 6 : 16); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const GroupNorm&) const = default;
};

PlainSlots plain_slots(const GroupNorm& spec);

}  // namespace bench::kernels
