// Functions of one value: what activation layers apply, and what an operation may apply to its result before
// storing it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <string_view>

namespace bench::kernels {

enum class ActivationKind {
  none,
  relu,
  relu6,
  leaky_relu,    // x, below 0 alpha · x
  gelu,          // x/2 · (1 + tanh u), u(x) = √(2/π) · (x + 0.044715 · x³) (arXiv:1606.08415)
  gelu_erf,      // x/2 · (1 + erf(x/√2))
  sigmoid,       // σ(x) = 1 / (1 + e^−x)
  silu,          // x · σ(x)
  hard_sigmoid,  // alpha · x + beta, from 0 to 1
  hard_swish,    // x · (x/6 + 1/2), the second factor from 0 to 1
  tanh,
  elu,       // x, below 0 alpha · (e^x − 1)
  selu,      // scaled ELU (arXiv:1706.02515)
  softplus,  // ln(1 + e^x)
  mish,      // x · tanh(ln(1 + e^x))
  clip,      // from alpha to beta
  linear,    // alpha · x + beta
  abs,
  sqrt,
  reciprocal,
  power,  // x^alpha
  exp,
  log,
  erf,
  sin,
  cos,
};

inline constexpr float kLeakySlope = 0.1F;  // as Darknet's networks have it

struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0;
  float beta = 0;

  auto operator<=>(const Activation&) const = default;

  static const Activation none, relu, relu6, leaky_relu, gelu, gelu_erf, sigmoid, silu, hard_swish, tanh, elu,
      selu, softplus, mish, abs, sqrt, reciprocal, exp, log, erf, sin, cos;
  static constexpr Activation leaky(float slope) { return {ActivationKind::leaky_relu, slope}; }
  static constexpr Activation hard_sigmoid(float alpha, float beta) {
    return {ActivationKind::hard_sigmoid, alpha, beta};
  }
  static constexpr Activation elu_of(float alpha) { return {ActivationKind::elu, alpha}; }  // at least 0
  static constexpr Activation clip(float least, float most) { return {ActivationKind::clip, least, most}; }
  static constexpr Activation linear(float scale, float shift) {
    return {ActivationKind::linear, scale, shift};
  }
  static constexpr Activation power(float exponent) { return {ActivationKind::power, exponent}; }
};

inline constexpr Activation Activation::none{};
inline constexpr Activation Activation::relu{ActivationKind::relu};
inline constexpr Activation Activation::relu6{ActivationKind::relu6};
inline constexpr Activation Activation::leaky_relu{ActivationKind::leaky_relu, kLeakySlope};
inline constexpr Activation Activation::gelu{ActivationKind::gelu};
inline constexpr Activation Activation::gelu_erf{ActivationKind::gelu_erf};
inline constexpr Activation Activation::sigmoid{ActivationKind::sigmoid};
inline constexpr Activation Activation::silu{ActivationKind::silu};
inline constexpr Activation Activation::hard_swish{ActivationKind::hard_swish};
inline constexpr Activation Activation::tanh{ActivationKind::tanh};
inline constexpr Activation Activation::elu{ActivationKind::elu, 1};
inline constexpr Activation Activation::selu{ActivationKind::selu};
inline constexpr Activation Activation::softplus{ActivationKind::softplus};
inline constexpr Activation Activation::mish{ActivationKind::mish};
inline constexpr Activation Activation::abs{ActivationKind::abs};
inline constexpr Activation Activation::sqrt{ActivationKind::sqrt};
inline constexpr Activation Activation::reciprocal{ActivationKind::reciprocal};
inline constexpr Activation Activation::exp{ActivationKind::exp};
inline constexpr Activation Activation::log{ActivationKind::log};
inline constexpr Activation Activation::erf{ActivationKind::erf};
inline constexpr Activation Activation::sin{ActivationKind::sin};
inline constexpr Activation Activation::cos{ActivationKind::cos};

constexpr std::string_view name_of(ActivationKind kind) {
  constexpr std::array<std::string_view, 26> kNames{
      "none", "relu",         "relu6",      "leaky_relu", "gelu", "gelu_erf",   "sigmoid",
      "silu", "hard_sigmoid", "hard_swish", "tanh",       "elu",  "selu",       "softplus",
      "mish", "clip",         "linear",     "abs",        "sqrt", "reciprocal", "power",
      "exp",  "log",          "erf",        "sin",        "cos"};
  return kNames.at(static_cast<std::size_t>(kind));
}

// One formula, and so one kernel: negative values are multiplied, values above a bound are cut.
constexpr bool is_rectifier(Activation activation) {
  return activation.kind <= ActivationKind::leaky_relu;
}

// Whether its derivative is computed from its result, and not from what it read.
constexpr bool slope_reads_result(Activation activation) {
  using K = ActivationKind;
  switch (activation.kind) {
    case K::sigmoid:
    case K::hard_sigmoid:
    case K::tanh:
    case K::elu:
    case K::selu:
    case K::clip:
    case K::linear:
    case K::sqrt:
    case K::reciprocal:
    case K::exp:
      return true;
    default:
      return is_rectifier(activation);
  }
}

// Whether a layer before it may apply it to its own result: every library or kernel after one has it then.
constexpr bool is_fusable(Activation activation) {
  using K = ActivationKind;
  switch (activation.kind) {
    case K::gelu:
    case K::gelu_erf:
    case K::sigmoid:
    case K::silu:
    case K::hard_sigmoid:
    case K::hard_swish:
    case K::tanh:
    case K::elu:
    case K::softplus:
    case K::mish:
    case K::clip:
      return true;
    default:
      return is_rectifier(activation);
  }
}

// GELU's u and its derivative.
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

inline constexpr double kSeluScale = 1.0507009873554805;
inline constexpr double kSeluAlpha = 1.6732632423543772;

// Operations it makes for each element: a comparison a bound; nine for gelu, tanh counted as one.
constexpr int comparisons(Activation activation) {
  using K = ActivationKind;
  switch (activation.kind) {
    case K::none:
      return 0;
    case K::relu6:
    case K::clip:
    case K::linear:
      return 2;
    case K::sigmoid:
    case K::hard_sigmoid:
    case K::elu:
    case K::selu:
      return 3;
    case K::silu:
    case K::mish:
    case K::hard_swish:
    case K::gelu_erf:
      return 5;
    case K::gelu:
      return 9;
    default:
      return 1;
  }
}

namespace activations {

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
inline double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
inline double normal_share(double x) {  // Φ
  return 0.5 * std::erfc(-x * 0.7071067811865476);
}

// Of the kinds that are no rectifiers.
inline double value_of(Activation activation, double x) {
  using K = ActivationKind;
  const double alpha = activation.alpha;
  const double beta = activation.beta;
  switch (activation.kind) {
    case K::gelu:
      return 0.5 * x * (1 + std::tanh(gelu_inner(x)));
    case K::gelu_erf:
      return x * normal_share(x);
    case K::sigmoid:
      return sigmoid(x);
    case K::silu:
      return x * sigmoid(x);
    case K::hard_sigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case K::hard_swish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case K::tanh:
      return std::tanh(x);
    case K::elu:
      return x > 0 ? x : alpha * std::expm1(x);
    case K::selu:
      return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
    case K::softplus:
      return softplus(x);
    case K::mish:
      return x * std::tanh(softplus(x));
    case K::clip:
      return std::clamp(x, alpha, beta);
    case K::linear:
      return alpha * x + beta;
    case K::abs:
      return std::fabs(x);
    case K::sqrt:
      return std::sqrt(x);
    case K::reciprocal:
      return 1 / x;
    case K::power:
      return std::pow(x, alpha);
    case K::exp:
      return std::exp(x);
    case K::log:
      return std::log(x);
    case K::erf:
      return std::erf(x);
    case K::sin:
      return std::sin(x);
    case K::cos:
      return std::cos(x);
    default:
      return x;
  }
}

// Their derivatives, from the result y or from what was read, x: see slope_reads_result().
inline double slope_of(Activation activation, double from) {
  using K = ActivationKind;
  const double x = from;
  const double y = from;
  const double alpha = activation.alpha;
  switch (activation.kind) {
    case K::gelu: {
      const double t = std::tanh(gelu_inner(x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_inner_slope(x);
    }
    case K::gelu_erf:
      return normal_share(x) + x * 0.3989422804014327 * std::exp(-0.5 * x * x);  // 1/√(2π)
    case K::sigmoid:
      return y * (1 - y);
    case K::silu:
      return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
    case K::hard_sigmoid:
      return y > 0 && y < 1 ? alpha : 0;
    case K::hard_swish:
      return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5;
    case K::tanh:
      return 1 - y * y;
    case K::elu:
      return y > 0 ? 1 : y + alpha;
    case K::selu:
      return y > 0 ? kSeluScale : y + kSeluScale * kSeluAlpha;
    case K::softplus:
      return sigmoid(x);
    case K::mish: {
      const double t = std::tanh(softplus(x));
      return t + x * (1 - t * t) * sigmoid(x);
    }
    case K::clip:
      return y > alpha && y < activation.beta ? 1 : 0;
    case K::linear:
      return alpha;
    case K::abs:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case K::sqrt:
      return 0.5 / y;
    case K::reciprocal:
      return -y * y;
    case K::power:
      return alpha * std::pow(x, alpha - 1);
    case K::exp:
      return y;
    case K::log:
      return 1 / x;
    case K::erf:
      return 1.1283791670955126 * std::exp(-x * x);  // 2/√π
    case K::sin:
      return std::cos(x);
    case K::cos:
      return -std::sin(x);
    default:
      return 1;
  }
}

}  // namespace activations

constexpr float rectified(Activation activation, float value) {
  if (activation.kind == ActivationKind::none ||
      !(value < 0.0F || (activation.kind == ActivationKind::relu6 && value > 6.0F))) {
    return value;
  }
  if (activation.kind == ActivationKind::leaky_relu) {
    return activation.alpha * value;
  }
  return value < 0.0F ? 0.0F : 6.0F;
}

inline float apply(Activation activation, float value) {
  return is_rectifier(activation) ? rectified(activation, value)
                                  : static_cast<float>(activations::value_of(activation, value));
}

// The derivative from the result, or from what was read: see slope_reads_result(). At a border a result does
// not tell whether the value was there or beyond: it counts as beyond.
inline float slope(Activation activation, float from) {
  if (!is_rectifier(activation)) {
    return static_cast<float>(activations::slope_of(activation, from));
  }
  if (from > 0.0F) {
    return activation.kind == ActivationKind::relu6 && !(from < 6.0F) ? 0.0F : 1.0F;
  }
  return activation.kind == ActivationKind::none         ? 1.0F
         : activation.kind == ActivationKind::leaky_relu ? activation.alpha
                                                         : 0.0F;
}

// Whether a tensor's channel padding, which is zero, stays so, and its gradient.
inline bool keeps_zero(Activation activation) {
  return apply(activation, 0.0F) == 0.0F && std::isfinite(slope(activation, 0.0F));
}

}  // namespace bench::kernels
