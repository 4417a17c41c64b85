// The functions of pointwise.h on fp32 values, for loops and kernel bodies.
#pragma once

#include <cmath>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/pointwise/pointwise.h"

namespace bench::kernels {

template <PointwiseFunction kFunction>
BENCH_DEVICE float value_of(float a, float b, float c) {
  using F = PointwiseFunction;
  if constexpr (kFunction == F::add) {
    return a + b;
  } else if constexpr (kFunction == F::subtract) {
    return a - b;
  } else if constexpr (kFunction == F::multiply) {
    return a * b;
  } else if constexpr (kFunction == F::divide) {
    return a / b;
  } else if constexpr (kFunction == F::power) {
    return powf(a, b);
  } else if constexpr (kFunction == F::maximum) {
    return a < b ? b : a;
  } else if constexpr (kFunction == F::minimum) {
    return b < a ? b : a;
  } else if constexpr (kFunction == F::prelu) {
    return a > 0.0F ? a : a * b;
  } else if constexpr (kFunction == F::equal) {
    return a == b ? 1.0F : 0.0F;
  } else if constexpr (kFunction == F::less) {
    return a < b ? 1.0F : 0.0F;
  } else if constexpr (kFunction == F::less_or_equal) {
    return a <= b ? 1.0F : 0.0F;
  } else if constexpr (kFunction == F::logical_and) {
    return (a != 0.0F) & (b != 0.0F) ? 1.0F : 0.0F;
  } else if constexpr (kFunction == F::logical_or) {
    return (a != 0.0F) | (b != 0.0F) ? 1.0F : 0.0F;
  } else if constexpr (kFunction == F::logical_xor) {
    return (a != 0.0F) != (b != 0.0F) ? 1.0F : 0.0F;
  } else {
    return a != 0.0F ? b : c;
  }
}

// The derivative by argument number kIndex.
template <PointwiseFunction kFunction, int kIndex>
BENCH_DEVICE float slope_of(float a, float b, float /*c*/) {
  using F = PointwiseFunction;
  constexpr bool kFirst = kIndex == 0;
  if constexpr (kFunction == F::add) {
    return 1.0F;
  } else if constexpr (kFunction == F::subtract) {
    return kFirst ? 1.0F : -1.0F;
  } else if constexpr (kFunction == F::multiply) {
    return kFirst ? b : a;
  } else if constexpr (kFunction == F::divide) {
    const float share = cuda::inverse(b);
    return kFirst ? share : -(a * share) * share;
  } else if constexpr (kFunction == F::power) {
    if constexpr (kFirst) {
      return b == 0.0F ? 0.0F : b * powf(a, b - 1.0F);
    } else {
      return a > 0.0F ? powf(a, b) * logf(a) : 0.0F;
    }
  } else if constexpr (kFunction == F::maximum) {
    return (a < b) == kFirst ? 0.0F : 1.0F;
  } else if constexpr (kFunction == F::minimum) {
    return (b < a) == kFirst ? 0.0F : 1.0F;
  } else if constexpr (kFunction == F::prelu) {
    if constexpr (kFirst) {
      return a > 0.0F ? 1.0F : b;
    } else {
      return a > 0.0F ? 0.0F : a;
    }
  } else if constexpr (kFunction == F::where) {
    return kFirst ? 0.0F : (a != 0.0F) == (kIndex == 1) ? 1.0F : 0.0F;
  } else {
    return 0.0F;
  }
}

// Calls visit with the function as a template argument.
BENCH_DEVICE_AND_HOST(template <class Visit>)
auto with_function(PointwiseFunction function, const Visit& visit) {
  using F = PointwiseFunction;
  switch (function) {
    case F::add:
      return visit.template operator()<F::add>();
    case F::subtract:
      return visit.template operator()<F::subtract>();
    case F::multiply:
      return visit.template operator()<F::multiply>();
    case F::divide:
      return visit.template operator()<F::divide>();
    case F::power:
      return visit.template operator()<F::power>();
    case F::maximum:
      return visit.template operator()<F::maximum>();
    case F::minimum:
      return visit.template operator()<F::minimum>();
    case F::prelu:
      return visit.template operator()<F::prelu>();
    case F::equal:
      return visit.template operator()<F::equal>();
    case F::less:
      return visit.template operator()<F::less>();
    case F::less_or_equal:
      return visit.template operator()<F::less_or_equal>();
    case F::logical_and:
      return visit.template operator()<F::logical_and>();
    case F::logical_or:
      return visit.template operator()<F::logical_or>();
    case F::logical_xor:
      return visit.template operator()<F::logical_xor>();
    case F::where:
      break;
  }
  return visit.template operator()<F::where>();
}

}  // namespace bench::kernels
