// Vectors of positions added to features, and the gradient of the vectors.
#pragma once

#include "kernels/cuda/units.cuh"

namespace bench::kernels::cuda {

// dst may be src: each thread reads what it writes before it does.
template <class Element, int kCount>
struct AddPositions {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "position embedding";
  using Stored = typename Element::Stored;

  Units units;  // samples of `sequence` rows of columns
  const Stored* src;
  const Stored* table;
  Stored* dst;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    float x[kCount];
    float vector[kCount];
    load_values<Element>(src + std::int64_t{index} * kCount, x);
    load_values<Element>(table + (std::int64_t{unit.y} * units.columns() + unit.column) * kCount, vector);
    for (int i = 0; i < kCount; ++i) {
      x[i] += vector[i];
    }
    store_values<Element>(dst + std::int64_t{index} * kCount, x);
  }
};

// Every vector collects from all samples; those behind the sequence have none.
template <class Element, int kCount>
struct PositionGradient {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "position embedding backward";
  using Stored = typename Element::Stored;

  Units units;  // the table: one sample of `positions` rows
  std::int64_t batch;
  std::int64_t sequence;
  const Stored* diff_dst;
  Stored* table;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    float sum[kCount] = {};
    for (std::int64_t n = 0; n < batch && unit.y < sequence; ++n) {
      float gradient[kCount];
      load_values<Element>(diff_dst + ((n * sequence + unit.y) * units.columns() + unit.column) * kCount,
                           gradient);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += gradient[i];
      }
    }
    store_values<Element>(table + std::int64_t{index} * kCount, sum);
  }
};

}  // namespace bench::kernels::cuda
