// dst = max(src, 0); or min(max(src, 0), 6); or max(src, kLeakySlope · src), the leaky ReLU.
// Slots: src → dst; dst may be src itself.
#pragma once

#include <string_view>

#include "kernels/activation.h"
#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Relu {
  static constexpr std::string_view kName = "relu";
  TensorDesc tensor;
  Activation activation = Activation::relu;  // neither none nor gelu

  double flops() const { return static_cast<double>(tensor.elements()) * comparisons(activation); }

  bool operator==(const Relu&) const = default;
};

}  // namespace bench::kernels
