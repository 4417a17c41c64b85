// The element-wise function an operation may apply to its result before storing it.
#pragma once

#include <cmath>

namespace bench::kernels {

// leaky_relu multiplies negative values with kLeakySlope, as Darknet's networks do; gelu is its tanh form,
// x/2 · (1 + tanh u) with u(x) = √(2/π) · (x + 0.044715 · x³) (Hendrycks and Gimpel 2016, arXiv:1606.08415).
enum class Activation { none, relu, relu6, leaky_relu, gelu };

inline constexpr float kLeakySlope = 0.1F;

// u and its derivative.
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

// The derivative at `value`: (1 + tanh u)/2 + x/2 · (1 − tanh² u) · u'(x).
inline float gelu_slope(float value) {
  const double x = value;
  const double t = std::tanh(gelu_inner(x));
  return static_cast<float>(0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_inner_slope(x));
}

// Comparisons it makes for each element; for gelu its nine operations, tanh counted as one.
constexpr int comparisons(Activation activation) {
  if (activation == Activation::gelu) {
    return 9;
  }
  return activation == Activation::none ? 0 : activation == Activation::relu6 ? 2 : 1;
}

constexpr float apply(Activation activation, float value) {
  if (activation == Activation::gelu) {
    return gelu(value);
  }
  if (activation == Activation::none ||
      !(value < 0.0F || (activation == Activation::relu6 && value > 6.0F))) {
    return value;
  }
  if (activation == Activation::leaky_relu) {
    return kLeakySlope * value;
  }
  return value < 0.0F ? 0.0F : 6.0F;
}

// The derivative of any but gelu, from the result. At a border a result does not tell whether the value was
// there or beyond: it counts as beyond.
constexpr float slope(Activation activation, float result) {
  if (result > 0.0F) {
    return activation == Activation::relu6 && !(result < 6.0F) ? 0.0F : 1.0F;
  }
  return activation == Activation::none ? 1.0F : activation == Activation::leaky_relu ? kLeakySlope : 0.0F;
}

}  // namespace bench::kernels
