// The implicit matrix product in fp32 on the ordinary cores, sums in registers.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/conv2d/implicit_gemm_steps.cuh"

namespace bench::kernels::cuda {

// A block does kPixels × kOutputs of dst. It takes the sums' kDepth next terms into shared memory while it
// adds up the ones before; a thread holds kMine × kMine sums in registers, so that each value it reads from
// shared memory serves kMine multiply-adds.

// One access of shared memory.
struct alignas(16) Quad {
  float at[4];
};

// kCount: floats of one access to global memory, 4 where channels and addresses allow it, else 1.
template <class Memory, int kPixels, int kOutputs, int kDepth, int kCount>
struct ImplicitGemm {
  using Corner = ConvolutionShape::Corner;
  // Sums of a thread: in groups of four neighbours, one group in each half of the tile where it has eight.
  static constexpr int kMine = kPixels * kOutputs == 64 * 64 ? 4 : 8;
  static constexpr int kGroups = kMine / 4;
  static constexpr int kThreads = kPixels * kOutputs / (kMine * kMine);
  // While some warps wait for memory or a barrier, those of another block compute.
  static constexpr int kResident = kThreads == 256 ? 2 : 3;
  static constexpr const char* kName = "implicit gemm";
  static constexpr int kWindowLoads = kPixels * kDepth / 4 / kThreads;
  static constexpr int kWeightQuads = kOutputs * kDepth / 4;  // loads of a block
  static constexpr int kWeightLoads = (kWeightQuads + kThreads - 1) / kThreads;
  static_assert(kPixels * kDepth % (4 * kThreads) == 0);

  ConvolutionShape shape;
  std::uint32_t output_tiles;
  const float* src;
  const float* weights;  // [depth][outputs]
  float* dst;

  struct Shared {
    // A row has one quad more than it needs: rows that are written together then lie in other banks.
    Quad windows[2][kDepth][kPixels / 4 + 1];
    Quad weights[2][kDepth][kOutputs / 4];
  };

  // A quad of a window: a load's pixel in the tile, and its first term of every kDepth, the same in all of a
  // thread's loads.
  static BENCH_DEVICE int pixel_of(int load) { return load / (kDepth / 4); }
  static BENCH_DEVICE int term_of(int load) { return load % (kDepth / 4) * 4; }
  static_assert(kThreads % (kDepth / 4) == 0);

  // kCount neighbouring terms; zeros outside the input.
  BENCH_DEVICE void gather(const Corner& window, const Corner& tap, float (&values)[kCount]) const {
    if (shape.inside(window, tap)) {
      load_floats<Memory>(src + (window.at + tap.at), values);
    } else {
      for (int i = 0; i < kCount; ++i) {
        values[i] = 0;
      }
    }
  }

  // Four neighbouring outputs' weights of one term.
  BENCH_DEVICE Quad weight_quad(int load, std::uint32_t step, int first_output) const {
    const std::uint32_t term = step + static_cast<std::uint32_t>(load / (kOutputs / 4));
    const int output = first_output + load % (kOutputs / 4) * 4;
    Quad quad;
    BENCH_UNROLL
    for (int i = 0; i < 4; i += kCount) {
      float values[kCount] = {};
      if (term < shape.depth && output + i < shape.outputs) {
        load_floats<Memory>(weights + (term * static_cast<std::uint32_t>(shape.outputs) +
                                       static_cast<std::uint32_t>(output + i)),
                            values);
      }
      for (int j = 0; j < kCount; ++j) {
        quad.at[i + j] = values[j];
      }
    }
    return quad;
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const OutputTile tile = OutputTile::of<kPixels, kOutputs>(thread, output_tiles);
    const std::uint32_t first_pixel = tile.first_pixel;
    const int first_output = tile.first_output;
    const int me = thread.index();

    Corner from[kWindowLoads];
    Quad next_windows[kWindowLoads];
    Quad next_weights[kWeightLoads];
    BENCH_UNROLL
    for (int l = 0; l < kWindowLoads; ++l) {
      from[l] = shape.window(first_pixel + static_cast<std::uint32_t>(pixel_of(me + l * kThreads)));
    }
    const auto fetch = [&](std::uint32_t step) {
      BENCH_UNROLL
      for (int i = 0; i < 4; i += kCount) {
        const Corner tap = shape.tap(step + static_cast<std::uint32_t>(term_of(me) + i));
        BENCH_UNROLL
        for (int l = 0; l < kWindowLoads; ++l) {
          float values[kCount];
          gather(from[l], tap, values);
          for (int j = 0; j < kCount; ++j) {
            next_windows[l].at[i + j] = values[j];
          }
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        if (const int load = me + l * kThreads; load < kWeightQuads) {
          next_weights[l] = weight_quad(load, step, first_output);
        }
      }
    };
    const auto keep = [&](int room) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        BENCH_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int pixel = pixel_of(me + l * kThreads);
          shared.windows[room][term_of(me) + i][pixel / 4].at[pixel % 4] = next_windows[l].at[i];
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        if (const int load = me + l * kThreads; load < kWeightQuads) {
          shared.weights[room][load / (kOutputs / 4)][load % (kOutputs / 4)] = next_weights[l];
        }
      }
    };

    // A warp is eight threads wide over outputs and four high over pixels: what its lanes read together lies
    // in few rows of the banks.
    constexpr int kWarpsAcross = kOutputs / kMine / 8;
    const int warp = me / 32;
    const int across = warp % kWarpsAcross * 8 + me % 8;
    const int down = warp / kWarpsAcross * 4 + me % 32 / 8;

    float sums[kMine][kMine] = {};
    for_each_step<kDepth>(thread, shape.depth, fetch, keep, [&](int room) {
      BENCH_UNROLL
      for (int d = 0; d < kDepth; ++d) {
        Quad left[kGroups];
        Quad right[kGroups];
        BENCH_UNROLL
        for (int g = 0; g < kGroups; ++g) {
          left[g] = shared.windows[room][d][down + g * (kPixels / 8)];
          right[g] = shared.weights[room][d][across + g * (kOutputs / 8)];
        }
        BENCH_UNROLL
        for (int i = 0; i < kMine; ++i) {
          BENCH_UNROLL
          for (int j = 0; j < kMine; ++j) {
            sums[i][j] = fmaf(left[i / 4].at[i % 4], right[j / 4].at[j % 4], sums[i][j]);
          }
        }
      }
    });

    BENCH_UNROLL
    for (int i = 0; i < kMine; ++i) {
      const std::uint32_t pixel =
          first_pixel + static_cast<std::uint32_t>(i / 4 * (kPixels / 2) + down * 4 + i % 4);
      BENCH_UNROLL
      for (int j = 0; j < kMine; j += kCount) {
        const int output = first_output + j / 4 * (kOutputs / 2) + across * 4 + j % 4;
        if (pixel < shape.pixels && output < shape.outputs) {
          float values[kCount];
          for (int n = 0; n < kCount; ++n) {
            values[n] = sums[i][j + n];
          }
          store_floats<Memory>(
              dst + (pixel * static_cast<std::uint32_t>(shape.outputs) + static_cast<std::uint32_t>(output)),
              values);
        }
      }
    }
  }
};

}  // namespace bench::kernels::cuda
