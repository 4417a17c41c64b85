// Averages over windows, and their gradient: sliding windows or adaptive ones.
#pragma once

#include "kernels/cuda/units.cuh"
#include "kernels/pool/windows.cuh"

namespace bench::kernels::cuda {

template <class Element, int kCount, class Windows>
struct AveragePool {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "average pool";
  using Stored = typename Element::Stored;

  Units units;  // of dst
  Windows rows;
  Windows columns;
  std::int64_t in_height;
  std::int64_t in_width;
  const Stored* src;
  Stored* dst;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    const Range h = rows.inputs(static_cast<int>(unit.y));
    const Range w = columns.inputs(static_cast<int>(unit.x));
    float sum[kCount] = {};
    for (int y = h.first; y < h.last; ++y) {
      const std::int64_t row = (unit.n * in_height + y) * in_width;
      for (int x = w.first; x < w.last; ++x) {
        float values[kCount];
        load_values<Element>(src + ((row + x) * units.columns() + unit.column) * kCount, values);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += values[i];
        }
      }
    }
    const float share = 1.0F / static_cast<float>((h.last - h.first) * (w.last - w.first));
    for (int i = 0; i < kCount; ++i) {
      sum[i] *= share;
    }
    store_values<Element>(dst + std::int64_t{index} * kCount, sum);
  }
};

// Every input collects its shares, so that nothing is added to by two threads.
template <class Element, int kCount, class Windows>
struct AveragePoolGradient {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "average pool backward";
  using Stored = typename Element::Stored;

  Units units;  // of diff_src
  Windows rows;
  Windows columns;
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
    const Range p = rows.windows(static_cast<int>(unit.y));
    const Range q = columns.windows(static_cast<int>(unit.x));
    float sum[kCount] = {};
    for (int y = p.first; y < p.last; ++y) {
      const Range h = rows.inputs(y);
      const std::int64_t row = (unit.n * out_height + y) * out_width;
      for (int x = q.first; x < q.last; ++x) {
        const Range w = columns.inputs(x);
        const float share = 1.0F / static_cast<float>((h.last - h.first) * (w.last - w.first));
        float gradient[kCount];
        load_values<Element>(diff_dst + ((row + x) * units.columns() + unit.column) * kCount, gradient);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += gradient[i] * share;
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{index} * kCount, sum);
  }
};

}  // namespace bench::kernels::cuda
