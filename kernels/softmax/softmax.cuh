// Softmax of rows: the largest, the sum of exponentials, the quotients. Rows are read three times, twice out
// of a cache.
#pragma once

#include "kernels/cuda/row_group.cuh"

namespace bench::kernels::cuda {

template <class Element, int kCount, int kGroup>
struct SoftmaxRows {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "softmax";
  using Stored = typename Element::Stored;

  const Stored* src;
  Stored* dst;
  std::int64_t rows;
  std::int64_t channels;

  struct Shared {
    WarpValues<float> room;
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < rows;  // the others still come to the barriers
    const Stored* const from = src + row * channels;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float largest = kBelowAll;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        largest = x[i] > largest ? x[i] : largest;
      }
    }
    largest = join_group<kGroup>(thread, largest, Largest{}, shared.room);
    float sum = 0;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        sum += expf(x[i] - largest);
      }
    }
    sum = join_group<kGroup>(thread, sum, Sum{}, shared.room);
    const float share = 1.0F / sum;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        x[i] = expf(x[i] - largest) * share;
      }
      store_values<Element>(dst + row * channels + c, x);
    }
  }
};

}  // namespace bench::kernels::cuda
