// Numeric types of a workload's tensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench {

// tf32 is stored as fp32 (4 bytes); only the multiplications are narrower.
enum class Dtype { fp32, tf32, fp16, bf16 };

inline constexpr std::array<Dtype, 4> kAllDtypes{Dtype::fp32, Dtype::tf32, Dtype::fp16, Dtype::bf16};

constexpr std::string_view name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return "fp32";
    case Dtype::tf32:
      return "tf32";
    case Dtype::fp16:
      return "fp16";
    case Dtype::bf16:
      return "bf16";
  }
  return "?";
}

// Size of one stored element in bytes.
constexpr std::int64_t bytes_of(Dtype dtype) {
  return dtype == Dtype::fp32 || dtype == Dtype::tf32 ? 4 : 2;
}

constexpr std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype dtype : kAllDtypes) {
    if (name_of(dtype) == text) {
      return dtype;
    }
  }
  return std::nullopt;
}

}  // namespace bench
