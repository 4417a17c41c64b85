// The units a kernel over NHWC maps has a thread for: a pixel's channels, one access of them at a time.
#pragma once

#include "kernels/cuda/divider.cuh"
#include "kernels/tensor.h"

namespace bench::kernels::cuda {

struct Unit {
  std::uint32_t n;
  std::uint32_t y;
  std::uint32_t x;
  std::uint32_t column;  // which access among the pixel's
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

  // The thread's own; count() and above where there is none left for it.
  template <class Thread>
  static BENCH_DEVICE std::uint32_t index(const Thread& thread) {
    return static_cast<std::uint32_t>(thread.block()) * kThreads + static_cast<std::uint32_t>(thread.index());
  }
  BENCH_DEVICE std::uint32_t count() const { return count_; }
  BENCH_DEVICE std::uint32_t columns() const { return columns_.divisor(); }

  BENCH_DEVICE Unit at(std::uint32_t index) const {
    Unit unit;
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

}  // namespace bench::kernels::cuda
