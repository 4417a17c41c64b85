// Every function of kernels/operations/activation.h for kernel bodies. Those of common networks have kernels
// of their own; the others are one, which chooses the function while it runs.
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/backends/cuda/rectifier.cuh"

namespace bench::kernels::cuda {

struct AnyActivation {
  ActivationKind kind;
  float alpha;
  float beta;

  static BENCH_DEVICE float clamped(float x, float least, float most) {
    return x < least ? least : x > most ? most : x;
  }
  static BENCH_DEVICE float softplus(float x) { return x > 0.0F ? x + log1pf(expf(-x)) : log1pf(expf(x)); }
  // The normal distribution, to 3e-7: a logistic function of a polynomial that was fitted to it up to |x| = 6
  // and is far on the right side beyond. erff takes 20 instructions more.
  static BENCH_DEVICE float normal_share(float x) {
    const float s = x * x;
    const float odd =
        2.30220938F +
        s * (0.104835123F +
             s * (-9.40492173e-5F +
                  s * (-1.5957994e-4F + s * (1.14398354e-5F + s * (-3.81631452e-7F + s * 5.06724174e-9F)))));
    return binary_logistic(x * odd);
  }
  // To 2e-6 of itself: 2 / (1 + e^(−2x)) − 1, near 0 a polynomial. tanhf branches and takes twice as many
  // instructions.
  static BENCH_DEVICE float hyperbolic_tangent(float x) {
    const float s = x * x;
    const float near = x + x * s * (-0.33324605F + s * 0.1287706F);
    const float far = 2.0F * binary_logistic(2.0F * kBinaryLogarithmOfE * x) - 1.0F;
    return fabsf(x) < 0.25F ? near : far;
  }

  // (−1)^k · sin(x − turns · π) for |x − turns · π| up to π/2, k the next whole number below. sinf and cosf
  // keep an array for the largest numbers; to 1e4 these are as good.
  static BENCH_DEVICE float turned_sine(float x, float turns, float k) {
    const float r = fmaf(turns, 8.742278e-8F, fmaf(turns, -3.14159274F, x));
    const float s = r * r;
    const float sine =
        r + r * s *
                (-1.6666667e-1F +
                 s * (8.3333333e-3F + s * (-1.9841270e-4F + s * (2.7557319e-6F - s * 2.5052108e-8F))));
    return k - 2.0F * floorf(0.5F * k) == 0.0F ? sine : -sine;
  }
  static BENCH_DEVICE float sine(float x) {
    const float k = rintf(0.31830989F * x);
    return turned_sine(x, k, k);
  }
  static BENCH_DEVICE float cosine(float x) {
    const float k = rintf(0.31830989F * x - 0.5F);
    return -turned_sine(x, k + 0.5F, k);
  }

  BENCH_DEVICE float operator()(float x) const {
    using K = ActivationKind;
    constexpr auto kScale = static_cast<float>(kSeluScale);
    constexpr auto kBelow = static_cast<float>(kSeluScale * kSeluAlpha);
    switch (kind) {
      case K::gelu_erf:
        return x * normal_share(x);
      case K::sigmoid:
        return logistic(x);
      case K::silu:
        return x * logistic(x);
      case K::hard_sigmoid:
        return clamped(alpha * x + beta, 0.0F, 1.0F);
      case K::hard_swish:
        return x * clamped(x * (1.0F / 6.0F) + 0.5F, 0.0F, 1.0F);
      case K::tanh:
        return hyperbolic_tangent(x);
      case K::elu:
        return x > 0.0F ? x : alpha * expm1f(x);
      case K::selu:
        return x > 0.0F ? kScale * x : kBelow * expm1f(x);
      case K::softplus:
        return softplus(x);
      case K::mish:
        return x * hyperbolic_tangent(softplus(x));
      case K::clip:
        return clamped(x, alpha, beta);
      case K::linear:
        return alpha * x + beta;
      case K::abs:
        return fabsf(x);
      case K::sqrt:
        return sqrtf(x);
      case K::reciprocal:
        return 1.0F / x;
      case K::power:
        return powf(x, alpha);
      case K::exp:
        return expf(x);
      case K::log:
        return logf(x);
      case K::erf:
        return erff(x);
      case K::sin:
        return sine(x);
      case K::cos:
        return cosine(x);
      default:
        return x;
    }
  }

  // The derivative, from the result or from what was read: see slope_reads_result().
  BENCH_DEVICE float slope(float from) const {
    using K = ActivationKind;
    constexpr auto kScale = static_cast<float>(kSeluScale);
    constexpr auto kBelow = static_cast<float>(kSeluScale * kSeluAlpha);
    switch (kind) {
      case K::gelu_erf:
        return normal_share(from) +
               from * 0.39894228F * power_of_two(-0.5F * kBinaryLogarithmOfE * (from * from));
      case K::sigmoid:
        return from * (1.0F - from);
      case K::silu: {
        const float s = logistic(from);
        return s * (1.0F + from * (1.0F - s));
      }
      case K::hard_sigmoid:
        return from > 0.0F && from < 1.0F ? alpha : 0.0F;
      case K::hard_swish:
        return from <= -3.0F ? 0.0F : from >= 3.0F ? 1.0F : from * (1.0F / 3.0F) + 0.5F;
      case K::tanh:
        return 1.0F - from * from;
      case K::elu:
        return from > 0.0F ? 1.0F : from + alpha;
      case K::selu:
        return from > 0.0F ? kScale : from + kBelow;
      case K::softplus:
        return logistic(from);
      case K::mish: {
        const float t = hyperbolic_tangent(softplus(from));
        return t + from * (1.0F - t * t) * logistic(from);
      }
      case K::clip:
        return from > alpha && from < beta ? 1.0F : 0.0F;
      case K::linear:
        return alpha;
      case K::abs:
        return from > 0.0F ? 1.0F : from < 0.0F ? -1.0F : 0.0F;
      case K::sqrt:
        return 0.5F / from;
      case K::reciprocal:
        return -from * from;
      case K::power:
        return alpha * powf(from, alpha - 1.0F);
      case K::exp:
        return from;
      case K::log:
        return 1.0F / from;
      case K::erf:
        return 1.1283792F * expf(-from * from);
      case K::sin:
        return cosine(from);
      case K::cos:
        return -sine(from);
      default:
        return 1.0F;
    }
  }
};

// One of them, known to the compiler.
template <ActivationKind kKind>
struct OneActivation {
  float alpha;
  float beta;

  BENCH_DEVICE float operator()(float x) const { return AnyActivation{kKind, alpha, beta}(x); }
  BENCH_DEVICE float slope(float from) const { return AnyActivation{kKind, alpha, beta}.slope(from); }
};

// Whether the body has many functions: unrolled, it would be longer than the cache of instructions.
template <class Activate>
inline constexpr bool kIsLong = std::is_same_v<Activate, AnyActivation>;

// Calls visit with the function as kernels have it.
template <class Visit>
void with_activation(Activation activation, const Visit& visit) {
  using K = ActivationKind;
  const auto one = [&]<K kKind>() { visit(OneActivation<kKind>{activation.alpha, activation.beta}); };
  switch (activation.kind) {
    case K::none:
    case K::relu:
    case K::relu6:
    case K::leaky_relu:
      return with_rectifier(activation, visit);
    case K::gelu:
      return visit(TanhGelu{});
    case K::gelu_erf:
      return one.template operator()<K::gelu_erf>();
    case K::sigmoid:
      return one.template operator()<K::sigmoid>();
    case K::silu:
      return one.template operator()<K::silu>();
    case K::hard_sigmoid:
      return one.template operator()<K::hard_sigmoid>();
    case K::hard_swish:
      return one.template operator()<K::hard_swish>();
    case K::tanh:
      return one.template operator()<K::tanh>();
    default:
      return visit(AnyActivation{activation.kind, activation.alpha, activation.beta});
  }
}

}  // namespace bench::kernels::cuda
