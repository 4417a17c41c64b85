// Sums down each channel of a matrix: of gradients, which is what a bias receives, and of gradients times
// normalised values besides, which is what the scale of a normalisation receives. Sums of sums in a fixed
// order: two runs give the same bits.
//
// Each block sums a chunk of rows, a second kernel the chunks.
#pragma once

#include <cmath>

#include "kernels/backends/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// x̂ of values whose mean and variance belong to their channel (batch norm)…
template <class Memory, int kCount>
struct ChannelNormalizer {
  static constexpr bool kNormalizes = true;
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
  static constexpr bool kNormalizes = true;
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

// No values at all: only the gradients are summed.
template <class Memory, int kCount>
struct NoNormalizer {
  static constexpr bool kNormalizes = false;
};

// partial[chunk][sum][channel] over the chunk's rows: Σ gradient is the last sum, Σ x̂ · gradient the one
// before it, where there are two. src is not read where there is one.
template <class Element, int kCount, template <class, int> class Normalizer>
struct ColumnSums {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "column sums";
  static constexpr bool kNormalizes = Normalizer<typename Element::Memory, kCount>::kNormalizes;
  static constexpr int kSums = kNormalizes ? 2 : 1;
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  const Stored* gradient;
  Normalizer<Memory, kCount> normalizer;
  float* partial;

  struct Shared {
    float sums[kSums][kThreads][kCount];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const Tiling::Place place = tiling.place(thread);
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float sums[kSums][kCount] = {};
    if (place.inside) {
      add_rows(place, channels, channel, sums);
    }
    for (int sum = 0; sum < kSums; ++sum) {
      for (int i = 0; i < kCount; ++i) {
        shared.sums[sum][thread.index()][i] = sums[sum][i];
      }
    }
    thread.sync();
    for (int half = tiling.height() / 2; half > 0; half /= 2) {
      if (place.above < half) {
        const int other = thread.index() + (half << tiling.log_width);
        for (int sum = 0; sum < kSums; ++sum) {
          for (int i = 0; i < kCount; ++i) {
            shared.sums[sum][thread.index()][i] += shared.sums[sum][other][i];
          }
        }
      }
      thread.sync();
    }
    if (place.above == 0 && place.inside) {
      for (int sum = 0; sum < kSums; ++sum) {
        for (int i = 0; i < kCount; ++i) {
          sums[sum][i] = shared.sums[sum][thread.index()][i];
        }
        store_floats<Memory>(partial + (std::int64_t{place.chunk} * kSums + sum) * channels + channel,
                             sums[sum]);
      }
    }
  }

 private:
  BENCH_DEVICE void add_rows(const Tiling::Place& place, std::int64_t channels, std::int64_t channel,
                             float (&sums)[kSums][kCount]) const {
    Normalizer<Memory, kCount> normalized = normalizer;
    if constexpr (kNormalizes) {
      normalized.begin(channel);
    }
    const auto step = static_cast<std::uint32_t>(tiling.height());
    for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
      Vector<kBytesOf<Element, kCount>> values[Tiling::kUnroll];
      Vector<kBytesOf<Element, kCount>> gradients[Tiling::kUnroll];
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          if constexpr (kNormalizes) {
            values[u] = load_vector<Element, kCount>(src + at * channels + channel);
          }
          gradients[u] = load_vector<Element, kCount>(gradient + at * channels + channel);
        }
      }
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          float g[kCount];
          unpack<Element>(gradients[u], g);
          if constexpr (kNormalizes) {
            float x[kCount];
            unpack<Element>(values[u], x);
            normalized.at_row(at);
            for (int i = 0; i < kCount; ++i) {
              sums[0][i] += g[i] * normalized(x[i], i);
            }
          }
          for (int i = 0; i < kCount; ++i) {
            sums[kSums - 1][i] += g[i];
          }
        }
      }
    }
  }
};

// The sums over all chunks.
template <int kSums>
struct FinishSums {
  static constexpr int kThreads = 256;
  static constexpr int kChannels = 8;  // of a block; the other threads share their chunks
  static constexpr int kHeight = kThreads / kChannels;
  static constexpr const char* kName = "finish column sums";

  const float* partial;
  std::int64_t channels;
  std::uint32_t chunks;
  float* sums[kSums];

  struct Shared {
    float sums[kSums][kThreads];
  };

  static std::int64_t blocks(std::int64_t channels) { return (channels + kChannels - 1) / kChannels; }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const std::int64_t channel = std::int64_t{thread.block()} * kChannels + me % kChannels;
    float mine[kSums] = {};
    if (channel < channels) {
      for (std::uint32_t chunk = static_cast<std::uint32_t>(me / kChannels); chunk < chunks;
           chunk += kHeight) {
        for (int sum = 0; sum < kSums; ++sum) {
          mine[sum] += partial[(std::int64_t{chunk} * kSums + sum) * channels + channel];
        }
      }
    }
    for (int sum = 0; sum < kSums; ++sum) {
      shared.sums[sum][me] = mine[sum];
    }
    thread.sync();
    for (int half = kHeight / 2; half > 0; half /= 2) {
      if (me / kChannels < half) {
        for (int sum = 0; sum < kSums; ++sum) {
          shared.sums[sum][me] += shared.sums[sum][me + half * kChannels];
        }
      }
      thread.sync();
    }
    if (me < kChannels && channel < channels) {
      for (int sum = 0; sum < kSums; ++sum) {
        sums[sum][channel] = shared.sums[sum][me];
      }
    }
  }
};

// Of a normalisation: the products' sums, then the gradients'.
using FinishColumnSums = FinishSums<2>;

}  // namespace bench::kernels::cuda
