// Division by a number that is known before a kernel starts: a GPU has no instruction for it, and coordinates
// of an element are made of quotients and remainders.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cuda/words.cuh"

namespace bench::kernels::cuda {

// Most indices a kernel that takes coordinates apart can have.
inline constexpr std::int64_t kMostUnits = (std::int64_t{1} << 31) - 1;

// Granlund and Montgomery 1994: with s = ⌈log2 d⌉ and m = ⌈2^(31+s) / d⌉, n/d = ⌊m·n / 2^(31+s)⌋ for every
// n below 2^31.
class Divider {
 public:
  Divider() = default;
  explicit Divider(std::int64_t divisor) : divisor_(static_cast<std::uint32_t>(divisor)) {
    shift_ = divisor_ < 2 ? 0 : 32 - std::countl_zero(divisor_ - 1);
    const std::uint64_t power = std::uint64_t{1} << (31 + shift_);
    factor_ = static_cast<std::uint32_t>((power + divisor_ - 1) / divisor_);  // below 2^32
  }

  BENCH_DEVICE std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>((std::uint64_t{n} * factor_) >> 31 >> shift_);
  }
  // Takes the lowest digit off `n`: n becomes the quotient, the remainder is returned.
  BENCH_DEVICE std::uint32_t take(std::uint32_t& n) const {
    const std::uint32_t above = quotient(n);
    const std::uint32_t rest = n - above * divisor_;
    n = above;
    return rest;
  }
  BENCH_DEVICE std::uint32_t divisor() const { return divisor_; }

 private:
  std::uint32_t divisor_ = 1;
  std::int32_t shift_ = 0;
  std::uint32_t factor_ = std::uint32_t{1} << 31;
};

}  // namespace bench::kernels::cuda
