// Sums down each channel of a matrix: Σ gradient, a bias's gradient, and Σ x̂ · gradient, the gradient of a
// normalisation's scale. Each block sums a chunk of rows, a second kernel the chunks, always in the same
// order: two runs give the same bits.
#pragma once

#include <cmath>

#include "kernels/backends/cuda/rectifier.cuh"
#include "kernels/backends/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// x̂ by the mean and variance of the channel (batch norm).
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
      factors[i] = inverse_root(factors[i] + epsilon);
    }
  }
  BENCH_DEVICE void at_row(std::int64_t /*row*/) {}
  BENCH_DEVICE float operator()(float x, int i) const { return (x - means[i]) * factors[i]; }
  BENCH_DEVICE float gradient(float /*x*/, float gradient, int /*i*/) const { return gradient; }
};

// The same before an activation: gradients are multiplied by its slope at scale · x̂ + shift.
template <class Activate>
struct Before {
  template <class Memory, int kCount>
  struct Normalizer : ChannelNormalizer<Memory, kCount> {
    const float* scale;
    const float* shift;
    Activate activate;
    float scales[kCount];
    float shifts[kCount];

    BENCH_DEVICE void begin(std::int64_t channel) {
      ChannelNormalizer<Memory, kCount>::begin(channel);
      load_floats<Memory>(scale + channel, scales);
      load_floats<Memory>(shift + channel, shifts);
    }
    BENCH_DEVICE float gradient(float x, float gradient, int i) const {
      return gradient * activate.slope(activate(scales[i] * (*this)(x, i) + shifts[i]));
    }
  };
};

// x̂ by the mean and variance of the row (layer norm).
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
    factor = inverse_root(variance[row] + epsilon);
  }
  BENCH_DEVICE float operator()(float x, int /*i*/) const { return (x - row_mean) * factor; }
  BENCH_DEVICE float gradient(float /*x*/, float gradient, int /*i*/) const { return gradient; }
};

// Only the gradients are summed.
template <class Memory, int kCount>
struct NoNormalizer {
  static constexpr bool kNormalizes = false;
};

// partial[chunk][sum][channel] over the chunk's rows: Σ gradient is the last sum, Σ x̂ · gradient the one
// before it, where there are two. src is not read where there is one.
template <class Element, int kCount, template <class, int> class Normalizer, class Tiles = Tiling>
struct ColumnSums {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "column sums";
  static constexpr bool kNormalizes = Normalizer<typename Element::Memory, kCount>::kNormalizes;
  static constexpr int kSums = kNormalizes ? 2 : 1;
  static constexpr int kResident = kSums * kCount > 8 ? 2 : 3;
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiles tiling;
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
    const Tiling::Place place = tiling.template place<kCount>(thread);
    float sums[kSums][kCount] = {};
    if (place.inside) {
      add_rows(place, sums);
    }
    for (int sum = 0; sum < kSums; ++sum) {
      for (int i = 0; i < kCount; ++i) {
        shared.sums[sum][thread.index()][i] = sums[sum][i];
      }
    }
    tiling.join(thread, place, [&](int me, int other) {
      for (int sum = 0; sum < kSums; ++sum) {
        for (int i = 0; i < kCount; ++i) {
          shared.sums[sum][me][i] += shared.sums[sum][other][i];
        }
      }
    });
    if (place.above == 0 && place.inside) {
      for (int sum = 0; sum < kSums; ++sum) {
        for (int i = 0; i < kCount; ++i) {
          sums[sum][i] = shared.sums[sum][thread.index()][i];
        }
        store_floats<Memory>(
            partial + (std::int64_t{place.chunk} * kSums + sum) * place.channels + place.channel, sums[sum]);
      }
    }
  }

 private:
  BENCH_DEVICE void add_rows(const Tiling::Place& place, float (&sums)[kSums][kCount]) const {
    Normalizer<Memory, kCount> normalized = normalizer;
    const Stored* in[kSums] = {gradient};
    if constexpr (kNormalizes) {
      normalized.begin(place.of_all);
      in[1] = src;
    }
    for_each_row<Element, kCount, Tiling::kUnroll>(
        tiling, place, in, [&](std::uint32_t row, const auto& values) {
          if constexpr (kNormalizes) {
            normalized.at_row(row);
            for (int i = 0; i < kCount; ++i) {
              const float g = normalized.gradient(values[1][i], values[0][i], i);
              sums[0][i] += g * normalized(values[1][i], i);
              sums[1][i] += g;
            }
          } else {
            for (int i = 0; i < kCount; ++i) {
              sums[0][i] += values[0][i];
            }
          }
        });
  }
};

// The sums over all chunks.
template <int kSums>
struct FinishSums {
  static constexpr int kThreads = ChunkJoin::kThreads;
  static constexpr const char* kName = "finish column sums";

  const float* partial;
  std::int64_t channels;
  std::uint32_t chunks;
  float* sums[kSums];

  struct Sums {
    float at[kSums];

    BENCH_DEVICE void join(const Sums& other) {
      for (int sum = 0; sum < kSums; ++sum) {
        at[sum] += other.at[sum];
      }
    }
    BENCH_DEVICE void add(const Sums& part, std::uint32_t /*chunk*/) { join(part); }
    BENCH_DEVICE const Sums& value() const { return *this; }
  };
  struct Shared {
    Sums sums[kThreads];
  };

  static std::int64_t blocks(std::int64_t channels) { return ChunkJoin::blocks(channels); }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const auto load = [&](std::uint32_t chunk, std::int64_t channel) {
      Sums part;
      for (int sum = 0; sum < kSums; ++sum) {
        part.at[sum] = partial[(std::int64_t{chunk} * kSums + sum) * channels + channel];
      }
      return part;
    };
    const auto store = [&](std::int64_t channel, const Sums& all) {
      for (int sum = 0; sum < kSums; ++sum) {
        sums[sum][channel] = all.at[sum];
      }
    };
    ChunkJoin::run(thread, thread.template shared<Shared>().sums, chunks, channels, Sums{}, load, store);
  }
};

// The two sums of a normalisation, of the products and of the gradients, by way of `partial`.
template <class Element, int kCount, template <class, int> class Normalizer, class Queue>
void launch_gradient_sums(const Queue& queue, const Tiling& tiling, const typename Element::Stored* src,
                          const typename Element::Stored* gradient,
                          const Normalizer<typename Element::Memory, kCount>& normalizer, float* partial,
                          float* products, float* gradients) {
  const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
  queue.launch(ColumnSums<Element, kCount, Normalizer>{tiling, src, gradient, normalizer, partial},
               tiling.blocks());
  queue.launch(FinishSums<2>{partial, channels, tiling.chunks, {products, gradients}},
               FinishSums<2>::blocks(channels));
}

}  // namespace bench::kernels::cuda
