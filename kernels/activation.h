// The element-wise function an operation may apply to its result before storing it.
#pragma once

#include <cmath>

namespace bench::kernels {

enum class Activation { none, relu, relu6, gelu };  // gelu: in its tanh form, see kernels/gelu

// Operations it does for each element: the comparisons of relu and relu6; gelu's two products and a sum for
// x + 0.044715 · x³, its factor, tanh counted as one, and a sum and two products behind it.
constexpr int operations_of(Activation activation) {
  switch (activation) {
    case Activation::none:
      return 0;
    case Activation::relu:
      return 1;
    case Activation::relu6:
      return 2;
    case Activation::gelu:
      return 9;
  }
  return 0;
}

// u of kernels/gelu/gelu.h and its derivative.
constexpr double kGeluFactor = 0.7978845608028654;  // √(2/π)
constexpr double kGeluCubic = 0.044715;
constexpr double gelu_inner(double x) {
  return kGeluFactor * (x + kGeluCubic * x * x * x);
}
constexpr double gelu_inner_slope(double x) {
  return kGeluFactor * (1 + 3 * kGeluCubic * x * x);
}

inline float apply(Activation activation, float value) {
  switch (activation) {
    case Activation::none:
      return value;
    case Activation::relu:
      return value < 0.0F ? 0.0F : value;
    case Activation::relu6:
      return value < 0.0F ? 0.0F : value > 6.0F ? 6.0F : value;
    case Activation::gelu: {
      const double x = value;
      return static_cast<float>(0.5 * x * (1 + std::tanh(gelu_inner(x))));
    }
  }
  return value;
}

}  // namespace bench::kernels
