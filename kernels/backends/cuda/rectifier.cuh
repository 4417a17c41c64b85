// kernels/operations/activation.h for kernel bodies. Rectifiers are one formula, and so one kernel: negative
// values are multiplied, values above a bound are cut.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/activation.h"

namespace bench::kernels::cuda {

struct Rectifier {
  float negative = 1;                                     // factor of values below 0
  float upper = std::numeric_limits<float>::quiet_NaN();  // NaN, which nothing is above: no bound

  static Rectifier of(Activation activation) {
    Rectifier made;
    if (activation != Activation::none) {
      made.negative = activation.kind == ActivationKind::leaky_relu ? activation.alpha : 0.0F;
    }
    if (activation == Activation::relu6) {
      made.upper = 6.0F;
    }
    return made;
  }

  BENCH_DEVICE float operator()(float value) const {
    // 0 · −∞ would be NaN.
    const float below = negative == 0.0F ? 0.0F : negative * value;
    return value < 0.0F ? below : value > upper ? upper : value;
  }

  // The derivative, from the result.
  BENCH_DEVICE float slope(float result) const {
    return result > 0.0F ? (result >= upper ? 0.0F : 1.0F) : negative;
  }
};

// The tanh form of kernels/operations/activation.h, with (1 + tanh u)/2 = 1 / (1 + e^(−2u)): tanhf branches,
// and what branches does not unroll.
struct TanhGelu {
  static constexpr float kFactor = 2 * 0.7978845608028654F;  // 2 · √(2/π)
  static constexpr float kCubic = 0.044715F;

  static BENCH_DEVICE float gate(float x) {
    return 1.0F / (1.0F + expf(-kFactor * (x + kCubic * x * x * x)));
  }

  BENCH_DEVICE float operator()(float x) const { return x * gate(x); }

  static BENCH_DEVICE float slope(float x) {
    const float s = gate(x);
    return s + x * s * (1.0F - s) * kFactor * (1.0F + 3.0F * kCubic * x * x);
  }
};

}  // namespace bench::kernels::cuda
