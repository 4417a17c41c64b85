// The units a kernel over NHWC maps has a thread for: a pixel's channels, one access of them at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/tensor.h"

namespace bench::kernels::cuda {

// Division by a number that is known before a kernel starts: a GPU has no instruction for it, and coordinates
// of an element are made of quotients and remainders.

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

struct Unit {
  std::uint32_t n;
  std::uint32_t y;
  std::uint32_t x;
  std::uint32_t column;   // which access among the pixel's
  std::uint32_t columns;  // of each pixel
  std::uint32_t index;    // among all, in the order of a map in memory
};

class Units {
 public:
  static constexpr int kThreads = 256;

  Units() = default;
  // Maps of n samples, `columns` accesses a pixel.
  Units(std::int64_t n, std::int64_t height, std::int64_t width, std::int64_t columns)
      : count_(static_cast<std::uint32_t>(n * height * width * columns)),
        height_(height),
        width_(width),
        columns_(columns) {}

  std::int64_t blocks() const { return (std::int64_t{count_} + kThreads - 1) / kThreads; }

  BENCH_DEVICE std::uint32_t count() const { return count_; }
  BENCH_DEVICE Unit at(std::uint32_t index) const {
    Unit unit;
    unit.index = index;
    unit.columns = columns_.divisor();
    unit.column = columns_.take(index);
    unit.x = width_.take(index);
    unit.y = height_.take(index);
    unit.n = index;
    return unit;
  }

 private:
  std::uint32_t count_ = 0;
  Divider height_;
  Divider width_;
  Divider columns_;
};

// A kernel that calls body(unit) in a thread for each unit.
template <class Body>
struct ForEachUnit {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = Body::kName;

  Units units;
  Body body;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index =
        static_cast<std::uint32_t>(thread.block()) * kThreads + static_cast<std::uint32_t>(thread.index());
    if (index < units.count()) {
      body(units.at(index));
    }
  }
};

template <class Queue, class Body>
void launch_units(const Queue& queue, const Units& units, const Body& body) {
  queue.launch(ForEachUnit<Body>{units, body}, units.blocks());
}

}  // namespace bench::kernels::cuda
