// Mean and sum of squared distances of each channel in chunks of rows, for batch norm and group norm.
#pragma once

#include "kernels/backends/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// Mean and variance of each channel, without cancellation: differences from the channel's first value are
// summed, and the parts' means and squares are joined by Chan, Golub and LeVeque (1979). Each block does a
// chunk of rows, a second kernel joins the chunks.
struct Moments {
  float count;
  float mean;
  float squares;  // Σ (value − mean)²

  BENCH_DEVICE void join(const Moments& other) { join(other, other.share_after(count)); }

  // other's part of both counts, which channels of the same rows have in common.
  BENCH_DEVICE void join(const Moments& other, float share) {
    const float distance = other.mean - mean;
    mean += distance * share;
    squares += other.squares + distance * distance * count * share;
    count += other.count;
  }
  BENCH_DEVICE float share_after(float before) const {
    return count == 0.0F ? 0.0F : count / (before + count);
  }
};

// partial[chunk][0][channel] = the chunk's mean, partial[chunk][1][channel] = its sum of squared distances.
template <class Element, int kCount, class Tiles = Tiling>
struct ChunkMoments {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr int kResident = kCount > 4 ? 3 : 4;
  static constexpr const char* kName = "channel statistics";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiles tiling;
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
    const Tiling::Place place = tiling.template place<kCount>(thread);
    float pivot[kCount] = {};
    float sum[kCount] = {};
    float squares[kCount] = {};
    float count = 0;
    if (place.inside && place.row < place.last) {
      load_values<Element>(src + place.row * place.channels + place.channel, pivot);
      const Stored* const in[] = {src};
      for_each_row<Element, kCount, Tiling::kUnroll>(tiling, place, in, [&](std::uint32_t, const auto& x) {
        for (int i = 0; i < kCount; ++i) {
          const float distance = x[0][i] - pivot[i];
          sum[i] += distance;
          squares[i] += distance * distance;
        }
        count += 1;
      });
    }
    const float share = count == 0.0F ? 0.0F : 1.0F / count;
    for (int i = 0; i < kCount; ++i) {
      shared.mean[thread.index()][i] = pivot[i] + sum[i] * share;
      shared.squares[thread.index()][i] = squares[i] - sum[i] * sum[i] * share;
    }
    shared.count[thread.index()] = count;
    tiling.join(thread, place, [&](int me, int other) {
      const float mine = shared.count[me];
      const float others = shared.count[other];
      const float part = Moments{others, 0, 0}.share_after(mine);
      for (int i = 0; i < kCount; ++i) {
        Moments moments{mine, shared.mean[me][i], shared.squares[me][i]};
        moments.join({others, shared.mean[other][i], shared.squares[other][i]}, part);
        shared.mean[me][i] = moments.mean;
        shared.squares[me][i] = moments.squares;
      }
      shared.count[me] = mine + others;
    });
    if (place.above == 0 && place.inside) {
      for (int i = 0; i < kCount; ++i) {
        sum[i] = shared.mean[thread.index()][i];
        squares[i] = shared.squares[thread.index()][i];
      }
      store_floats<Memory>(partial + std::int64_t{place.chunk} * 2 * place.channels + place.channel, sum);
      store_floats<Memory>(partial + (std::int64_t{place.chunk} * 2 + 1) * place.channels + place.channel,
                           squares);
    }
  }
};

}  // namespace bench::kernels::cuda
