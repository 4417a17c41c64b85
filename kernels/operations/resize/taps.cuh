// Where the taps of a resize lie, in whole numbers: the same on every machine.
#pragma once

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels {

// ⌊a / b⌋ for b > 0.
BENCH_DEVICE std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

// An axis by itself; a kernel's argument.
struct TapAxis {
  ResizeAxis axis;
  Resize::Kind kind;
  Resize::Rounding rounding;
  float cubic;

  BENCH_DEVICE std::int64_t inside(std::int64_t at) const {
    return at < 0 ? 0 : at < axis.in ? at : axis.in - 1;
  }

  // Calls visit(pixel of the input, weight) for each tap of output o, one after the other.
  template <class Visit>
  BENCH_DEVICE void each_tap(std::int64_t o, const Visit& visit) const {
    const std::int64_t place = o * axis.step + axis.offset;  // in units
    const std::int64_t floor = floor_quotient(place, axis.unit);
    if (kind == Resize::Kind::nearest) {
      visit(inside(nearest(place, floor)), 1.0F);
      return;
    }
    const float behind = static_cast<float>(place - floor * axis.unit) / static_cast<float>(axis.unit);
    if (kind == Resize::Kind::linear) {
      visit(inside(floor), 1.0F - behind);
      visit(inside(floor + 1), behind);
      return;
    }
    visit(inside(floor - 1), far_weight(1.0F + behind));
    visit(inside(floor), near_weight(behind));
    visit(inside(floor + 1), near_weight(1.0F - behind));
    visit(inside(floor + 2), far_weight(2.0F - behind));
  }

  // The outputs of which an input may be a tap: from `first` up to, not including, `last`. Places do not fall
  // from output to output.
  struct Outputs {
    std::int64_t first;
    std::int64_t last;
  };
  BENCH_DEVICE Outputs outputs_of(std::int64_t i) const {
    const std::int64_t reach = kind == Resize::Kind::cubic ? 2 : 1;  // a tap is no further from the place
    if (axis.step == 0) {
      return {0, axis.out};
    }
    // Pixels beyond the edges count as the ones there.
    const std::int64_t first = i == 0 ? 0 : floor_quotient((i - reach) * axis.unit - axis.offset, axis.step);
    const std::int64_t last =
        i == axis.in - 1 ? axis.out : floor_quotient((i + reach) * axis.unit - axis.offset, axis.step) + 1;
    return {first < 0 ? 0 : first, last < 0 ? 0 : last < axis.out ? last : axis.out};
  }

  // The weight of input i in output o; 0 where it is no tap.
  BENCH_DEVICE float weight(std::int64_t o, std::int64_t i) const {
    float sum = 0;
    each_tap(o, [&](std::int64_t at, float weight) { sum += at == i ? weight : 0.0F; });
    return sum;
  }

 private:
  BENCH_DEVICE std::int64_t nearest(std::int64_t place, std::int64_t floor) const {
    switch (rounding) {
      case Resize::Rounding::floor:
        return floor;
      case Resize::Rounding::ceil:
        return -floor_quotient(-place, axis.unit);
      case Resize::Rounding::half_down:
        return -floor_quotient(-(2 * place - axis.unit), 2 * axis.unit);
      default:
        return floor_quotient(2 * place + axis.unit, 2 * axis.unit);
    }
  }
  // Keys' kernel at a distance of up to 1, and from 1 to 2.
  BENCH_DEVICE float near_weight(float x) const {
    return ((cubic + 2.0F) * x - (cubic + 3.0F)) * x * x + 1.0F;
  }
  BENCH_DEVICE float far_weight(float x) const {
    return ((cubic * x - 5.0F * cubic) * x + 8.0F * cubic) * x - 4.0F * cubic;
  }
};

inline TapAxis row_taps(const Resize& spec) {
  return {spec.rows, spec.kind, spec.rounding, spec.cubic};
}
inline TapAxis column_taps(const Resize& spec) {
  return {spec.columns, spec.kind, spec.rounding, spec.cubic};
}

}  // namespace bench::kernels
