// Two sums down each channel of a matrix, of gradients and of gradients times normalised values: what the
// scale and the shift of a normalisation receive. Sums of sums in a fixed order: two runs give the same bits.
//
// Each block sums a chunk of rows, a second kernel the chunks.
#pragma once

#include "kernels/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// x̂ of values whose mean and variance belong to their channel (batch norm)…
template <class Memory, int kCount>
struct ChannelNormalizer {
  const float* mean;
  const float* variance;
  float epsilon;
  float means[kCount];
  float factors[kCount];

  BENCH_DEVICE void begin(std::int64_t channel) {
    load_floats<Memory>(mean + channel, means);
    load_floats<Memory>(variance + channel, factors);
    for (int i = 0; i < kCount; ++i) {
      factors[i] = 1.0F / sqrtf(factors[i] + epsilon);
    }
  }
  BENCH_DEVICE void at_row(std::int64_t /*row*/) {}
  BENCH_DEVICE float operator()(float x, int i) const { return (x - means[i]) * factors[i]; }
};

// … or to their row (layer norm).
template <class Memory, int kCount>
struct RowNormalizer {
  const float* mean;
  const float* variance;
  float epsilon;
  float row_mean;
  float factor;

  BENCH_DEVICE void begin(std::int64_t /*channel*/) {}
  BENCH_DEVICE void at_row(std::int64_t row) {
    row_mean = mean[row];
    factor = 1.0F / sqrtf(variance[row] + epsilon);
  }
  BENCH_DEVICE float operator()(float x, int /*i*/) const { return (x - row_mean) * factor; }
};

// partial[chunk][0][channel] = Σ x̂ · gradient over the chunk's rows, partial[chunk][1][channel] = Σ gradient.
template <class Element, int kCount, template <class, int> class Normalizer>
struct ColumnSums {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "column sums";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  const Stored* gradient;
  Normalizer<Memory, kCount> normalizer;
  float* partial;

  struct Shared {
    float products[kThreads][kCount];
    float plain[kThreads][kCount];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const Tiling::Place place = tiling.place(thread);
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float products[kCount] = {};
    float plain[kCount] = {};
    if (place.inside) {
      Normalizer<Memory, kCount> normalized = normalizer;
      normalized.begin(channel);
      const auto step = static_cast<std::uint32_t>(tiling.height());
      for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
        Words<kBytesOf<Element, kCount>> values[Tiling::kUnroll];
        Words<kBytesOf<Element, kCount>> gradients[Tiling::kUnroll];
        for (int u = 0; u < Tiling::kUnroll; ++u) {
          if (const std::uint32_t at = row + step * u; at < place.last) {
            values[u] = load_words<Element, kCount>(src + at * channels + channel);
            gradients[u] = load_words<Element, kCount>(gradient + at * channels + channel);
          }
        }
        for (int u = 0; u < Tiling::kUnroll; ++u) {
          if (const std::uint32_t at = row + step * u; at < place.last) {
            float x[kCount];
            float g[kCount];
            unpack<Element>(values[u], x);
            unpack<Element>(gradients[u], g);
            normalized.at_row(at);
            for (int i = 0; i < kCount; ++i) {
              products[i] += g[i] * normalized(x[i], i);
              plain[i] += g[i];
            }
          }
        }
      }
    }
    for (int i = 0; i < kCount; ++i) {
      shared.products[thread.index()][i] = products[i];
      shared.plain[thread.index()][i] = plain[i];
    }
    thread.sync();
    for (int half = tiling.height() / 2; half > 0; half /= 2) {
      if (place.above < half) {
        const int other = thread.index() + (half << tiling.log_width);
        for (int i = 0; i < kCount; ++i) {
          shared.products[thread.index()][i] += shared.products[other][i];
          shared.plain[thread.index()][i] += shared.plain[other][i];
        }
      }
      thread.sync();
    }
    if (place.above == 0 && place.inside) {
      for (int i = 0; i < kCount; ++i) {
        products[i] = shared.products[thread.index()][i];
        plain[i] = shared.plain[thread.index()][i];
      }
      store_floats<Memory>(partial + std::int64_t{place.chunk} * 2 * channels + channel, products);
      store_floats<Memory>(partial + (std::int64_t{place.chunk} * 2 + 1) * channels + channel, plain);
    }
  }
};

// The sums over all chunks.
struct FinishColumnSums {
  static constexpr int kThreads = 256;
  static constexpr int kChannels = 8;  // of a block; the other threads share their chunks
  static constexpr int kHeight = kThreads / kChannels;
  static constexpr const char* kName = "finish column sums";

  const float* partial;
  std::int64_t channels;
  std::uint32_t chunks;
  float* products;
  float* plain;

  struct Shared {
    float products[kThreads];
    float plain[kThreads];
  };

  static std::int64_t blocks(std::int64_t channels) { return (channels + kChannels - 1) / kChannels; }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const std::int64_t channel = std::int64_t{thread.block()} * kChannels + me % kChannels;
    float product = 0;
    float sum = 0;
    if (channel < channels) {
      for (std::uint32_t chunk = static_cast<std::uint32_t>(me / kChannels); chunk < chunks;
           chunk += kHeight) {
        product += partial[std::int64_t{chunk} * 2 * channels + channel];
        sum += partial[(std::int64_t{chunk} * 2 + 1) * channels + channel];
      }
    }
    shared.products[me] = product;
    shared.plain[me] = sum;
    thread.sync();
    for (int half = kHeight / 2; half > 0; half /= 2) {
      if (me / kChannels < half) {
        shared.products[me] += shared.products[me + half * kChannels];
        shared.plain[me] += shared.plain[me + half * kChannels];
      }
      thread.sync();
    }
    if (me < kChannels && channel < channels) {
      products[channel] = shared.products[me];
      plain[channel] = shared.plain[me];
    }
  }
};

}  // namespace bench::kernels::cuda
