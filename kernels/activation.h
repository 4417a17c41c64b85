// The element-wise function an operation may apply to its result before storing it.
#pragma once

namespace bench::kernels {

enum class Activation { none, relu, relu6 };

// Comparisons it makes for each element.
constexpr int comparisons(Activation activation) {
  return activation == Activation::none ? 0 : activation == Activation::relu ? 1 : 2;
}

constexpr float apply(Activation activation, float value) {
  if (activation == Activation::none ||
      !(value < 0.0F || (activation == Activation::relu6 && value > 6.0F))) {
    return value;
  }
  return value < 0.0F ? 0.0F : 6.0F;
}

}  // namespace bench::kernels
