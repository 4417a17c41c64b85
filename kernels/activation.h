// The element-wise function an operation may apply to its result before storing it.
#pragma once

namespace bench::kernels {

// leaky_relu multiplies negative values with kLeakySlope, as Darknet's networks do.
enum class Activation { none, relu, relu6, leaky_relu };

inline constexpr float kLeakySlope = 0.1F;

// Comparisons it makes for each element.
constexpr int comparisons(Activation activation) {
  return activation == Activation::none ? 0 : activation == Activation::relu6 ? 2 : 1;
}

constexpr float apply(Activation activation, float value) {
  if (activation == Activation::none ||
      !(value < 0.0F || (activation == Activation::relu6 && value > 6.0F))) {
    return value;
  }
  if (activation == Activation::leaky_relu) {
    return kLeakySlope * value;
  }
  return value < 0.0F ? 0.0F : 6.0F;
}

// The derivative, from the result. At a border a result does not tell whether the value was there or beyond:
// it counts as beyond.
constexpr float slope(Activation activation, float result) {
  if (result > 0.0F) {
    return activation == Activation::relu6 && !(result < 6.0F) ? 0.0F : 1.0F;
  }
  return activation == Activation::none ? 1.0F : activation == Activation::leaky_relu ? kLeakySlope : 0.0F;
}

}  // namespace bench::kernels
