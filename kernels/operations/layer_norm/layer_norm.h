// Layer normalisation of each row over its features, and its gradient (Ba, Kiros and Hinton 2016,
// arXiv:1607.06450). With mean and (biased) variance of a row and x̂ = (src − mean) / √(variance + epsilon):
//   dst = scale · x̂ + shift
//   diff_shift = Σ_rows diff_dst        diff_scale = Σ_rows diff_dst · x̂
//   diff_src = 1/√(variance + epsilon) · (g − mean of g − x̂ · mean of g·x̂),   g = scale · diff_dst,
// the last means over the features of the row.
//
// Slots. inference: src, scale, shift → dst.
//        training:  src, scale, shift → mean, variance, dst.
//        backward:  src, mean, variance (as training wrote them), scale, diff_dst
//                   → diff_src (may be diff_dst itself), diff_scale, diff_shift.
// scale, shift and their gradients are fp32[width], mean and variance fp32[rows], whatever the dtype. Where
// there is no scale it counts as 1, no shift as 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";

  std::int64_t rows = 1;
  std::int64_t width = 1;  // features
  bool training = false;
  Direction direction = Direction::forward;
  Dtype dtype = Dtype::fp32;  // of src and dst
  float epsilon = 1e-5F;
  bool scale = true, shift = true;  // a shift has a scale

  bool forward() const { return direction == Direction::forward; }
  // Whether this pass writes mean and variance.
  bool saves() const { return forward() && training; }
  TensorDesc tensor() const { return {rows, width, 1, 1, Layout::nhwc, dtype}; }
  // Forward an addition for the mean, a difference, a square and an addition for the variance, a product and
  // a sum at the end. Backward three operations an element for x̂, four for the vectors' sums, five for those
  // of the row, four for diff_src.
  double flops() const { return static_cast<double>(rows * width) * (!forward() ? 16 : 6); }

  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    return shift && !scale ? std::optional<std::string>("layer_norm: a shift has a scale") : std::nullopt;
  }

  bool operator==(const LayerNorm&) const = default;
};

PlainSlots plain_slots(const LayerNorm& spec);

}  // namespace bench::kernels
