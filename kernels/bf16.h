// bfloat16 is the upper half of an fp32. Both ways without a branch, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace bench::kernels {

inline float from_bf16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

// To the nearest, ties to even.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  // A NaN is made quiet instead: rounding could carry it to infinity.
  const std::uint32_t quiet = bits | 0x400000U;
  return static_cast<std::uint16_t>(((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) >> 16);
}

}  // namespace bench::kernels
