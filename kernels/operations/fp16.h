// IEEE half precision, one number at a time, rounded to the nearest, ties to even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bench::kernels {

struct Fp16 {
  using Stored = std::uint16_t;
  static Stored from(float value) {
    const auto sign = static_cast<Stored>(std::signbit(value) ? 0x8000U : 0U);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) {
      return static_cast<Stored>(sign | 0x7e00U);
    }
    if (magnitude >= 65520.0F) {  // halfway between the largest finite value and the next power of two
      return static_cast<Stored>(sign | 0x7c00U);
    }
    if (magnitude < 0x1p-14F) {  // subnormal: a multiple of 2^-24; a carry into 2^10 is the smallest normal
      return static_cast<Stored>(sign | static_cast<Stored>(std::nearbyint(magnitude * 0x1p24F)));
    }
    auto bits = std::bit_cast<std::uint32_t>(magnitude);
    bits += 0xfffU + ((bits >> 13) & 1U);
    return static_cast<Stored>(sign | ((bits >> 13) - ((127U - 15U) << 10)));
  }
  static float to(Stored value) {
    const float sign = (value & 0x8000U) != 0 ? -1.0F : 1.0F;
    const std::uint32_t exponent = (value >> 10) & 0x1fU;
    const std::uint32_t mantissa = value & 0x3ffU;
    if (exponent == 0) {
      return sign * static_cast<float>(mantissa) * 0x1p-24F;
    }
    if (exponent == 31) {
      return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                           : sign * std::numeric_limits<float>::infinity();
    }
    return sign * std::bit_cast<float>(((exponent + 127U - 15U) << 23) | (mantissa << 13));
  }
};

}  // namespace bench::kernels
