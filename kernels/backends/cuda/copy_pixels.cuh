// Copies pixels of channels from one map into a part of another, as maps are joined and pixels repeated, by
// the widest accesses that sizes and addresses allow. Bytes are bytes: it knows no dtype.
#pragma once

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/units.cuh"

namespace bench::kernels::cuda {

// One access is kBytes; the units are dst's. The thread of dst's pixel (n, y, x) and access k reads src's
// pixel (n, (y + top) / factor, (x + left) / factor), or writes zeros where there is none.
template <class Memory, int kBytes>
struct CopyPixels {
  static constexpr const char* kName = "copy pixels";

  const std::byte* src;
  std::byte* dst;
  std::int64_t src_pitch;  // bytes from pixel to pixel
  std::int64_t dst_pitch;
  int src_height;
  int src_width;
  int top;
  int left;
  Divider factor;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const int y = static_cast<int>(unit.y) + top;
    const int x = static_cast<int>(unit.x) + left;
    Vector<kBytes> words{};
    if (y >= 0 && x >= 0) {
      const auto from_y = static_cast<int>(factor.quotient(static_cast<std::uint32_t>(y)));
      const auto from_x = static_cast<int>(factor.quotient(static_cast<std::uint32_t>(x)));
      if (from_y < src_height && from_x < src_width) {
        const std::int64_t pixel = (std::int64_t{unit.n} * src_height + from_y) * src_width + from_x;
        words = Memory::template load<kBytes>(src + pixel * src_pitch + std::int64_t{unit.column} * kBytes);
      }
    }
    const std::int64_t pixel = unit.index / unit.columns;
    Memory::store(dst + pixel * dst_pitch + std::int64_t{unit.column} * kBytes, words);
  }
};

// Calls visit with the widest access, in bytes, that each of `bytes` is a multiple of and all addresses have
// as their alignment. Elements have two bytes at least.
template <class Visit, class... Pointers>
void with_bytes(std::int64_t bytes, Visit visit, const Pointers*... pointers) {
  if (aligned(16, bytes, pointers...)) {
    visit.template operator()<16>();
  } else if (aligned(8, bytes, pointers...)) {
    visit.template operator()<8>();
  } else if (aligned(4, bytes, pointers...)) {
    visit.template operator()<4>();
  } else {
    visit.template operator()<2>();
  }
}

// The part of a map that is copied from or to.
struct PixelMap {
  void* data = nullptr;
  std::int64_t pitch = 0;  // bytes from pixel to pixel
  std::int64_t height = 1, width = 1;
};

struct PixelCopy {
  PixelMap from;
  PixelMap to;
  std::int64_t samples = 1;
  std::int64_t bytes = 0;  // of each pixel
  std::int64_t top = 0, left = 0;
  std::int64_t factor = 1;
};

template <class Machine>
void copy_pixels(const typename Machine::Queue& queue, const PixelCopy& copy) {
  const auto* const src = static_cast<const std::byte*>(copy.from.data);
  auto* const dst = static_cast<std::byte*>(copy.to.data);
  with_bytes(
      // Its lowest set bit is the lowest of all three: what an access must divide to divide each.
      copy.bytes | copy.from.pitch | copy.to.pitch,
      [&]<int kBytes>() {
        launch_units(
            queue, {copy.samples, copy.to.height, copy.to.width, copy.bytes / kBytes},
            CopyPixels<typename Machine::Memory, kBytes>{.src = src,
                                                         .dst = dst,
                                                         .src_pitch = copy.from.pitch,
                                                         .dst_pitch = copy.to.pitch,
                                                         .src_height = static_cast<int>(copy.from.height),
                                                         .src_width = static_cast<int>(copy.from.width),
                                                         .top = static_cast<int>(copy.top),
                                                         .left = static_cast<int>(copy.left),
                                                         .factor = Divider(copy.factor)});
      },
      src, dst);
}

}  // namespace bench::kernels::cuda
