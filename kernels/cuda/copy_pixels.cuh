// Copies pixels of channels from one map into a part of another: what concat, rows and upsample and their
// gradients do. Bytes are bytes: it knows no dtype.
#pragma once

#include "kernels/cuda/units.cuh"

namespace bench::kernels::cuda {

// One access is kBytes. The thread of dst's pixel (n, y, x) and access k reads src's pixel
// (n, (y + top) / factor, (x + left) / factor), or writes zeros where there is none.
template <class Memory, int kBytes>
struct CopyPixels {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "copy pixels";

  Units units;  // of dst: its pixels, and the accesses copied of each
  const std::byte* src;
  std::byte* dst;
  std::int64_t src_pitch;  // bytes from pixel to pixel
  std::int64_t dst_pitch;
  int src_height;
  int src_width;
  int top;
  int left;
  Divider factor;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    const int y = static_cast<int>(unit.y) + top;
    const int x = static_cast<int>(unit.x) + left;
    Words<kBytes> words{};
    if (y >= 0 && x >= 0) {
      const auto from_y = static_cast<int>(factor.quotient(static_cast<std::uint32_t>(y)));
      const auto from_x = static_cast<int>(factor.quotient(static_cast<std::uint32_t>(x)));
      if (from_y < src_height && from_x < src_width) {
        const std::int64_t pixel = (std::int64_t{unit.n} * src_height + from_y) * src_width + from_x;
        words = Memory::template load<kBytes>(src + pixel * src_pitch + std::int64_t{unit.column} * kBytes);
      }
    }
    const std::int64_t pixel = index / units.columns();
    Memory::store(dst + pixel * dst_pitch + std::int64_t{unit.column} * kBytes, words);
  }
};

}  // namespace bench::kernels::cuda
