// kernels/operations/activation.h for kernel bodies: rectifiers and GELU.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/activation.h"

namespace bench::kernels::cuda {

// Kinds are types: a kernel computes only what its kind needs, by selections, and none of its elements
// branches. NaN stays NaN.
template <ActivationKind kKind>
struct Rectifier {
  static constexpr float kUpper = 6;  // of relu6

  float negative;  // factor of values below 0, of a leaky one

  BENCH_DEVICE float operator()(float value) const {
    if constexpr (kKind == ActivationKind::none) {
      return value;
    } else if constexpr (kKind == ActivationKind::leaky_relu) {
      return value < 0.0F ? negative * value : value;
    } else {
      const float positive = value < 0.0F ? 0.0F : value;
      return kKind == ActivationKind::relu6 && positive > kUpper ? kUpper : positive;
    }
  }

  // The derivative, from the result.
  BENCH_DEVICE float slope(float result) const {
    if constexpr (kKind == ActivationKind::none) {
      return 1.0F;
    } else if constexpr (kKind == ActivationKind::leaky_relu) {
      return result > 0.0F ? 1.0F : negative;
    } else if constexpr (kKind == ActivationKind::relu6) {
      return result > 0.0F && result < kUpper ? 1.0F : 0.0F;
    } else {
      return result > 0.0F ? 1.0F : 0.0F;
    }
  }
};

using Identity = Rectifier<ActivationKind::none>;
using Relu = Rectifier<ActivationKind::relu>;
using Relu6 = Rectifier<ActivationKind::relu6>;
using LeakyRelu = Rectifier<ActivationKind::leaky_relu>;

// Calls visit with the rectifier that an activation is.
template <class Visit>
void with_rectifier(Activation activation, const Visit& visit) {
  switch (activation.kind) {
    case ActivationKind::none:
      return visit(Identity{});
    case ActivationKind::relu:
      return visit(Relu{});
    case ActivationKind::relu6:
      return visit(Relu6{});
    case ActivationKind::leaky_relu:
      return visit(LeakyRelu{activation.alpha});
    default:
      throw std::logic_error("not a rectifier: " + std::string(name_of(activation.kind)));
  }
}

// The tanh form of kernels/operations/activation.h, with (1 + tanh u)/2 = 1 / (1 + e^(−2u)): tanhf branches,
// and what branches does not unroll.
struct TanhGelu {
  static constexpr float kFactor = 2 * 0.7978845608028654F;  // 2 · √(2/π)
  static constexpr float kCubic = 0.044715F;

  static BENCH_DEVICE float gate(float x) {
    constexpr float kBinary = kFactor * kBinaryLogarithmOfE;
    return binary_logistic(x * (kBinary + kBinary * kCubic * (x * x)));
  }

  BENCH_DEVICE float operator()(float x) const { return x * gate(x); }

  static BENCH_DEVICE float slope(float x) {
    const float s = gate(x);
    // From left to right: a large x times 0 first.
    return s + x * (s - s * s) * (kFactor + 3.0F * kFactor * kCubic * (x * x));
  }
};

}  // namespace bench::kernels::cuda
