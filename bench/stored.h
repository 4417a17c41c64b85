// Stored numbers and their fp32 values.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bench {

// Fp32 and Bf16 have no branches, so that loops over them vectorise.
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

// IEEE half precision, rounded to the nearest, ties to even. One number at a time: with branches.
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

}  // namespace bench
