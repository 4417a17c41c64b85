// What stands behind a product or a convolution, element by element; a thread stays with its columns, whose
// bias it reads once.
#pragma once

#include "kernels/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// dst = activate(dst + bias + residual) in place; bias and residual may be null. kWideBias: the bias is fp32
// whatever the element.
template <class Element, int kCount, bool kWideBias, class Activate>
struct FinishRows {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "finish";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  Stored* dst;
  const void* bias;
  const Stored* residual;
  Activate activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t columns = std::int64_t{tiling.columns} * kCount;
    const std::int64_t column = std::int64_t{place.column} * kCount;
    float shift[kCount] = {};
    if (bias != nullptr) {
      if constexpr (kWideBias) {
        load_floats<Memory>(static_cast<const float*>(bias) + column, shift);
      } else {
        load_values<Element>(static_cast<const Stored*>(bias) + column, shift);
      }
    }
    const auto step = static_cast<std::uint32_t>(tiling.height());
    for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
      Words<kBytesOf<Element, kCount>> values[Tiling::kUnroll];
      Words<kBytesOf<Element, kCount>> residuals[Tiling::kUnroll] = {};
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          values[u] = load_words<Element, kCount>(dst + at * columns + column);
          if (residual != nullptr) {
            residuals[u] = load_words<Element, kCount>(residual + at * columns + column);
          }
        }
      }
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          float x[kCount];
          float added[kCount];
          unpack<Element>(values[u], x);
          unpack<Element>(residuals[u], added);  // zeros where there is none
          for (int i = 0; i < kCount; ++i) {
            x[i] = activate(x[i] + added[i] + shift[i]);
          }
          store_values<Element>(dst + at * columns + column, x);
        }
      }
    }
  }
};

// to = from, rounded; one element a thread.
template <class Element>
struct Narrow {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "narrow";

  const float* from;
  typename Element::Stored* to;
  std::int64_t count;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t i = std::int64_t{thread.block()} * kThreads + thread.index();
    if (i < count) {
      to[i] = Element::from(from[i]);
    }
  }
};

}  // namespace bench::kernels::cuda
