// Normalising with given statistics, forward and backward.
#pragma once

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/rectifier.cuh"
#include "kernels/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// dst = act(scale · x̂ + shift)
template <class Element, int kCount>
struct Normalize {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "batch norm";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  Stored* dst;
  const float* scale;
  const float* shift;
  const float* mean;
  const float* variance;
  float epsilon;
  Rectifier activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float means[kCount];
    float factors[kCount];
    float shifts[kCount];
    float scales[kCount];
    load_floats<Memory>(mean + channel, means);
    load_floats<Memory>(variance + channel, factors);
    load_floats<Memory>(shift + channel, shifts);
    load_floats<Memory>(scale + channel, scales);
    for (int i = 0; i < kCount; ++i) {
      factors[i] = scales[i] / sqrtf(factors[i] + epsilon);
    }
    const auto step = static_cast<std::uint32_t>(tiling.height());
    for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
      Words<kBytesOf<Element, kCount>> words[Tiling::kUnroll];
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          words[u] = load_words<Element, kCount>(src + at * channels + channel);
        }
      }
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          float x[kCount];
          unpack<Element>(words[u], x);
          for (int i = 0; i < kCount; ++i) {
            x[i] = activate((x[i] - means[i]) * factors[i] + shifts[i]);
          }
          store_values<Element>(dst + at * channels + channel, x);
        }
      }
    }
  }
};

// diff_src = scale / √(variance + epsilon) · (gradient − diff_shift / rows − x̂ · diff_scale / rows).
// diff_src may be the gradient itself.
template <class Element, int kCount>
struct NormalizeGradient {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "batch norm backward";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  const Stored* gradient;
  Stored* diff_src;
  const float* scale;
  const float* diff_scale;
  const float* diff_shift;
  ChannelNormalizer<Memory, kCount> normalizer;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    ChannelNormalizer<Memory, kCount> normalized = normalizer;
    normalized.begin(channel);
    const float share = 1.0F / static_cast<float>(tiling.rows);
    float factors[kCount];
    float products[kCount];
    float plain[kCount];
    load_floats<Memory>(scale + channel, factors);
    load_floats<Memory>(diff_scale + channel, products);
    load_floats<Memory>(diff_shift + channel, plain);
    for (int i = 0; i < kCount; ++i) {
      factors[i] *= normalized.factors[i];
      products[i] *= share;
      plain[i] *= share;
    }
    const auto step = static_cast<std::uint32_t>(tiling.height());
    constexpr int kUnroll = Tiling::kUnroll / 2;  // two inputs each
    for (std::uint32_t row = place.row; row < place.last; row += step * kUnroll) {
      Words<kBytesOf<Element, kCount>> values[kUnroll];
      Words<kBytesOf<Element, kCount>> gradients[kUnroll];
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          values[u] = load_words<Element, kCount>(src + at * channels + channel);
          gradients[u] = load_words<Element, kCount>(gradient + at * channels + channel);
        }
      }
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          float x[kCount];
          float g[kCount];
          unpack<Element>(values[u], x);
          unpack<Element>(gradients[u], g);
          for (int i = 0; i < kCount; ++i) {
            g[i] = factors[i] * (g[i] - plain[i] - normalized(x[i], i) * products[i]);
          }
          store_values<Element>(diff_src + at * channels + channel, g);
        }
      }
    }
  }
};

}  // namespace bench::kernels::cuda
