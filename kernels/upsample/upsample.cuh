// The gradient of repeated pixels: each collects from those that repeat it.
#pragma once

#include "kernels/cuda/units.cuh"

namespace bench::kernels::cuda {

template <class Element, int kCount>
struct UpsampleGradient {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "upsample backward";
  using Stored = typename Element::Stored;

  Units units;  // of diff_src
  int factor;
  std::int64_t out_height;
  std::int64_t out_width;
  const Stored* diff_dst;
  Stored* diff_src;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    float sum[kCount] = {};
    for (int dy = 0; dy < factor; ++dy) {
      const std::int64_t row = unit.n * out_height + std::int64_t{unit.y} * factor + dy;
      for (int dx = 0; dx < factor; ++dx) {
        const std::int64_t pixel = row * out_width + std::int64_t{unit.x} * factor + dx;
        float gradient[kCount];
        load_values<Element>(diff_dst + (pixel * units.columns() + unit.column) * kCount, gradient);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += gradient[i];
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{index} * kCount, sum);
  }
};

}  // namespace bench::kernels::cuda
