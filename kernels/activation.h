// The element-wise function an operation may apply to its result before storing it.
#pragma once

#include <cmath>

namespace bench::kernels {

enum class Activation { none, relu, relu6, gelu };  // gelu: in its tanh form, see kernels/gelu

// u of kernels/gelu/gelu.h and its derivative.
constexpr double gelu_inner(double x) {
  return 0.7978845608028654 * (x + 0.044715 * x * x * x);  // √(2/π)
}
constexpr double gelu_inner_slope(double x) {
  return 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}
inline float gelu(float value) {
  const double x = value;
  return static_cast<float>(0.5 * x * (1 + std::tanh(gelu_inner(x))));
}

// Comparisons it makes for each element; for gelu its nine operations, tanh counted as one.
constexpr int comparisons(Activation activation) {
  if (activation == Activation::gelu) {
    return 9;
  }
  return activation == Activation::none ? 0 : activation == Activation::relu ? 1 : 2;
}

constexpr float apply(Activation activation, float value) {
  if (activation == Activation::gelu) {
    return gelu(value);
  }
  if (activation == Activation::none ||
      !(value < 0.0F || (activation == Activation::relu6 && value > 6.0F))) {
    return value;
  }
  return value < 0.0F ? 0.0F : 6.0F;
}

}  // namespace bench::kernels
