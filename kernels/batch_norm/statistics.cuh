// Mean and variance of each channel, without cancellation: differences from a value of the channel's own are
// summed, and the parts' means and squares are joined as Chan, Golub and LeVeque do (1979). Always in the
// same order: two runs give the same bits.
//
// Each block does a chunk of rows, a second kernel joins the chunks.
#pragma once

#include "kernels/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// Of some values: how many, their mean, and the sum of their squared distances from it.
struct Moments {
  float count;
  float mean;
  float squares;

  BENCH_DEVICE void join(float other_count, float other_mean, float other_squares) {
    if (other_count == 0.0F) {
      return;
    }
    const float all = count + other_count;
    const float distance = other_mean - mean;
    const float share = other_count / all;
    mean += distance * share;
    squares += other_squares + distance * distance * count * share;
    count = all;
  }
};

// partial[chunk][0][channel] = the chunk's mean, partial[chunk][1][channel] = its sum of squared distances.
template <class Element, int kCount>
struct ChunkMoments {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "batch norm statistics";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  float* partial;

  struct Shared {
    float mean[kThreads][kCount];
    float squares[kThreads][kCount];
    float count[kThreads];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const Tiling::Place place = tiling.place(thread);
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float pivot[kCount] = {};
    float sum[kCount] = {};
    float squares[kCount] = {};
    float count = 0;
    if (place.inside && place.row < place.last) {
      load_values<Element>(src + place.row * channels + channel, pivot);
      const auto step = static_cast<std::uint32_t>(tiling.height());
      for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
        Words<kBytesOf<Element, kCount>> words[Tiling::kUnroll];
        for (int u = 0; u < Tiling::kUnroll; ++u) {
          if (const std::uint32_t at = row + step * u; at < place.last) {
            words[u] = load_words<Element, kCount>(src + at * channels + channel);
          }
        }
        for (int u = 0; u < Tiling::kUnroll; ++u) {
          if (row + step * u < place.last) {
            float x[kCount];
            unpack<Element>(words[u], x);
            for (int i = 0; i < kCount; ++i) {
              const float distance = x[i] - pivot[i];
              sum[i] += distance;
              squares[i] += distance * distance;
            }
            count += 1;
          }
        }
      }
    }
    const float share = count == 0.0F ? 0.0F : 1.0F / count;
    for (int i = 0; i < kCount; ++i) {
      shared.mean[thread.index()][i] = pivot[i] + sum[i] * share;
      shared.squares[thread.index()][i] = squares[i] - sum[i] * sum[i] * share;
    }
    shared.count[thread.index()] = count;
    thread.sync();
    for (int half = tiling.height() / 2; half > 0; half /= 2) {
      if (place.above < half) {
        const int me = thread.index();
        const int other = me + (half << tiling.log_width);
        float joined = 0;
        for (int i = 0; i < kCount; ++i) {
          Moments moments{shared.count[me], shared.mean[me][i], shared.squares[me][i]};
          moments.join(shared.count[other], shared.mean[other][i], shared.squares[other][i]);
          shared.mean[me][i] = moments.mean;
          shared.squares[me][i] = moments.squares;
          joined = moments.count;
        }
        shared.count[me] = joined;
      }
      thread.sync();
    }
    if (place.above == 0 && place.inside) {
      for (int i = 0; i < kCount; ++i) {
        sum[i] = shared.mean[thread.index()][i];
        squares[i] = shared.squares[thread.index()][i];
      }
      store_floats<Memory>(partial + std::int64_t{place.chunk} * 2 * channels + channel, sum);
      store_floats<Memory>(partial + (std::int64_t{place.chunk} * 2 + 1) * channels + channel, squares);
    }
  }
};

// mean and biased variance over all chunks.
struct JoinMoments {
  static constexpr int kThreads = 256;
  static constexpr int kChannels = 8;  // of a block; the other threads share their chunks
  static constexpr int kHeight = kThreads / kChannels;
  static constexpr const char* kName = "batch norm statistics, chunks";

  Tiling tiling;
  const float* partial;
  std::int64_t channels;
  float* mean;
  float* variance;

  struct Shared {
    Moments moments[kThreads];
  };

  static std::int64_t blocks(std::int64_t channels) { return (channels + kChannels - 1) / kChannels; }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const std::int64_t channel = std::int64_t{thread.block()} * kChannels + me % kChannels;
    Moments moments{0, 0, 0};
    if (channel < channels) {
      for (std::uint32_t chunk = static_cast<std::uint32_t>(me / kChannels); chunk < tiling.chunks;
           chunk += kHeight) {
        moments.join(static_cast<float>(tiling.rows_of(chunk)),
                     partial[std::int64_t{chunk} * 2 * channels + channel],
                     partial[(std::int64_t{chunk} * 2 + 1) * channels + channel]);
      }
    }
    shared.moments[me] = moments;
    thread.sync();
    for (int half = kHeight / 2; half > 0; half /= 2) {
      if (me / kChannels < half) {
        const Moments other = shared.moments[me + half * kChannels];
        shared.moments[me].join(other.count, other.mean, other.squares);
      }
      thread.sync();
    }
    if (me < kChannels && channel < channels) {
      mean[channel] = shared.moments[me].mean;
      variance[channel] = shared.moments[me].squares / shared.moments[me].count;
    }
  }
};

}  // namespace bench::kernels::cuda
