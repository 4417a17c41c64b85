// The implicit matrix product in fp16 on tensor cores, sums in fp32.
#pragma once

#include <cstdint>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/conv2d/implicit_gemm_steps.cuh"

namespace bench::kernels::cuda {

// A block does 128 pixels × kOutputs: its eight warps are four high and two wide, each with two rows of
// kOutputs / 32 tiles. The sums' next 32 terms come into shared memory while the ones before are added up.
// kCount: elements of one access to global memory, 8 where channels and addresses allow it, else 1.
template <class Element, class Tiles, int kOutputs, int kCount>
struct ImplicitGemmTiles {
  using Corner = ConvolutionShape::Corner;
  using Stored = typename Element::Stored;
  using Memory = typename Element::Memory;
  static constexpr int kThreads = 256;
  static constexpr int kResident = kOutputs > 64 ? 1 : 2;  // more registers than half of them hold
  static constexpr const char* kName = "implicit gemm on tensor cores";
  static constexpr int kPixels = 128;
  static constexpr int kDepth = 32;
  static constexpr int kEight = 8;  // elements of one access to shared memory
  static constexpr int kDown = 2;   // tiles of a warp
  static constexpr int kAcross = kOutputs / (2 * kTile);
  static constexpr int kWindowEights = kDepth / kEight;  // of a pixel's terms
  static constexpr int kWeightEights = kOutputs / kEight;
  static constexpr int kWindowLoads = kPixels * kWindowEights / kThreads;
  static constexpr int kWeightLoads = kDepth * kWeightEights / kThreads;
  static_assert(kPixels * kWindowEights % kThreads == 0 && kDepth * kWeightEights % kThreads == 0);

  ConvolutionShape shape;
  std::uint32_t output_tiles;
  const Stored* src;
  const Stored* weights;  // [depth][outputs]
  Stored* dst;

  struct alignas(16) Eight {
    Vector<16> words;
  };
  // Rows have one access more than they need: the rows of a tile then lie in different banks.
  struct Factors {
    Eight windows[2][kPixels][kWindowEights + 1];
    Eight weights[2][kDepth][kWeightEights + 1];
  };
  static constexpr int kSumStride = kTile + 4;
  struct alignas(32) Shared {
    union {
      Factors factors;
      float sums[kThreads / 32][kTile * kSumStride];  // of one tile of each warp, on their way out
    };
  };

  // Where there is nothing: zeros.
  static BENCH_DEVICE void read(const Stored* from, bool there, int at, Vector<16>& into) {
    if (there) {
      const auto words = load_vector<Element, kCount>(from);
      if constexpr (kCount == kEight) {
        into = words;
      } else {
        put(into, at, static_cast<Stored>(words.word[0]));
      }
    }
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    auto& factors = shared.factors;
    const OutputTile tile = OutputTile::of<kPixels, kOutputs>(thread, output_tiles);
    const std::uint32_t first_pixel = tile.first_pixel;
    const int first_output = tile.first_output;
    const int me = thread.index();

    Corner from[kWindowLoads];
    Eight next_windows[kWindowLoads];
    Eight next_weights[kWeightLoads];
    BENCH_UNROLL
    for (int l = 0; l < kWindowLoads; ++l) {
      from[l] = shape.window(first_pixel + static_cast<std::uint32_t>((me + l * kThreads) / kWindowEights));
    }
    const auto fetch = [&](std::uint32_t step) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        next_windows[l] = {};
      }
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        const Corner tap = shape.tap(step + static_cast<std::uint32_t>(me % kWindowEights * kEight + i));
        BENCH_UNROLL
        for (int l = 0; l < kWindowLoads; ++l) {
          read(src + (from[l].at + tap.at), shape.inside(from[l], tap), i, next_windows[l].words);
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        const int load = me + l * kThreads;
        const std::uint32_t term = step + static_cast<std::uint32_t>(load / kWeightEights);
        next_weights[l] = {};
        BENCH_UNROLL
        for (int i = 0; i < kEight; i += kCount) {
          const auto output = static_cast<std::uint32_t>(first_output + load % kWeightEights * kEight + i);
          const auto outputs = static_cast<std::uint32_t>(shape.outputs);
          read(weights + (term * outputs + output), term < shape.depth && output < outputs, i,
               next_weights[l].words);
        }
      }
    };
    const auto keep = [&](int room) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        const int load = me + l * kThreads;
        factors.windows[room][load / kWindowEights][load % kWindowEights] = next_windows[l];
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        const int load = me + l * kThreads;
        factors.weights[room][load / kWeightEights][load % kWeightEights] = next_weights[l];
      }
    };

    const int warp = me / 32;
    const int top = warp / 2 * kDown * kTile;
    const int left_edge = warp % 2 * kAcross * kTile;
    typename Tiles::Sums sums[kDown][kAcross];
    BENCH_UNROLL
    for (int i = 0; i < kDown; ++i) {
      BENCH_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        sums[i][j].clear(thread);
      }
    }
    for_each_step<kDepth>(thread, shape.depth, fetch, keep, [&](int room) {
      BENCH_UNROLL
      for (int d = 0; d < kDepth; d += kTile) {
        typename Tiles::Left left[kDown];
        BENCH_UNROLL
        for (int i = 0; i < kDown; ++i) {
          left[i].load(&factors.windows[room][top + i * kTile][d / kEight], (kWindowEights + 1) * kEight);
        }
        BENCH_UNROLL
        for (int j = 0; j < kAcross; ++j) {
          typename Tiles::Right right;
          right.load(&factors.weights[room][d][(left_edge + j * kTile) / kEight],
                     (kWeightEights + 1) * kEight);
          BENCH_UNROLL
          for (int i = 0; i < kDown; ++i) {
            sums[i][j].add(left[i], right);
          }
        }
      }
    });

    // Tile by tile through the warp's own shared memory, where a lane finds eight neighbours of one pixel.
    float* const staged = shared.sums[warp];
    const int row = me % 32 / 2;
    const int column = me % 2 * kEight;
    BENCH_UNROLL
    for (int i = 0; i < kDown; ++i) {
      BENCH_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        sums[i][j].store(staged, kSumStride);
        thread.sync_warp();
        const std::uint32_t pixel = first_pixel + static_cast<std::uint32_t>(top + i * kTile + row);
        const int output = first_output + left_edge + j * kTile + column;
        BENCH_UNROLL
        for (int n = 0; n < kEight; n += kCount) {
          if (pixel < shape.pixels && output + n < shape.outputs) {
            float values[kCount];
            for (int k = 0; k < kCount; ++k) {
              values[k] = staged[row * kSumStride + column + n + k];
            }
            store_values<Element>(dst + (pixel * static_cast<std::uint32_t>(shape.outputs) +
                                         static_cast<std::uint32_t>(output + n)),
                                  values);
          }
        }
        thread.sync_warp();
      }
    }
  }
};

}  // namespace bench::kernels::cuda
