// One stored number and its fp32 value. Without branches, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "bench/dtype.h"

namespace bench::kernels {

struct Fp32 {
  using Stored = float;
  static Stored from(float value) { return value; }
  static float to(Stored value) { return value; }
};

// The upper half of an fp32. Rounds to the nearest, ties to even.
struct Bf16 {
  using Stored = std::uint16_t;
  static Stored from(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
    // A NaN is made quiet instead: rounding could carry it to infinity.
    const std::uint32_t quiet = bits | 0x400000U;
    return static_cast<Stored>(((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) >> 16);
  }
  static float to(Stored value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }
};

// Calls visit with the element that the CPU's kernels compute `dtype` as.
template <class Visit>
auto with_element(Dtype dtype, Visit visit) {
  return dtype == Dtype::bf16 ? visit.template operator()<Bf16>() : visit.template operator()<Fp32>();
}

}  // namespace bench::kernels
