// Gradient of batch normalisation in training, through the batch's own mean and variance. With
// x̂ = (src − mean) / √(variance + epsilon) and sums over the N = n·h·w values of a channel:
//   diff_shift = Σ diff_dst          diff_scale = Σ diff_dst · x̂
//   diff_src = scale / √(variance + epsilon) · (diff_dst − diff_shift / N − x̂ · diff_scale / N)
// (Ioffe and Szegedy 2015, arXiv:1502.03167.)
//
// Slots: src, mean, variance (as the forward pass wrote them), scale, diff_dst
//        → diff_src (may be diff_dst itself), diff_scale, diff_shift.
// mean, variance, scale and the last two gradients are fp32[channels] whatever the dtype.
#pragma once

#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct BatchNormBackward {
  static constexpr std::string_view kName = "batch_norm_backward";
  TensorDesc tensor;  // of src, diff_dst and diff_src
  float epsilon = 1e-5F;

  // Three operations an element for x̂, three for the two sums, four for diff_src.
  double flops() const { return static_cast<double>(tensor.elements()) * 10; }

  bool operator==(const BatchNormBackward&) const = default;
};

}  // namespace bench::kernels
