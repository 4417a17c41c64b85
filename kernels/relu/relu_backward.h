// Gradient of ReLU, ReLU6 and leaky ReLU, from the forward pass's result: diff_src = diff_dst where 0 < dst
// (and dst < 6 for ReLU6), else 0, or kLeakySlope · diff_dst for leaky ReLU.
// Where the gradient is `summed` it comes in two parts, and diff_dst above is their sum.
// Slots: dst (an input: what the forward pass wrote), diff_dst, src1 (summed; the other part) → diff_src;
//        diff_src may be diff_dst itself.
#pragma once

#include <string_view>

#include "kernels/activation.h"
#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct ReluBackward {
  static constexpr std::string_view kName = "relu_backward";
  TensorDesc tensor;
  Activation activation = Activation::relu;  // neither none nor gelu
  bool summed = false;

  double flops() const {
    return static_cast<double>(tensor.elements()) * (comparisons(activation) + (summed ? 1 : 0));
  }

  bool operator==(const ReluBackward&) const = default;
};

}  // namespace bench::kernels
