// Multiply-adds on tensor cores: tiles multiplied again and again in registers, sums in fp32.
#pragma once

#include "kernels/cuda/tiles.cuh"
#include "kernels/cuda/words.cuh"
#include "kernels/fma/fma.h"
#include "kernels/fma/fma_matrix.cuh"

namespace bench::kernels::cuda {

// A warp has kMine tiles, whose sums do not wait for each other. Memory is touched before the first product
// and after the last one only. kCount: elements of one access to memory, 8 where rows and addresses allow it,
// else 1.
template <class Element, class Tiles, int kCount>
struct FmaTiles {
  using Stored = typename Element::Stored;
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "fma on tensor cores";
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kMine = 4;
  static constexpr int kEight = 8;  // a lane's neighbours in a tile
  static constexpr int kRowEights = kTile / kEight;
  static constexpr std::int64_t kBlockElements = kWarps * kMine * Fma::kTileElements;
  static_assert(Fma::kTileSide == kTile && Fma::kTileElements == 32 * kEight && kThreads == kTile * kTile);

  const Stored* src;
  Stored* dst;
  std::int64_t count;  // elements of a row
  std::int64_t parts;  // blocks of a row
  std::int64_t steps;

  struct alignas(16) Eight {
    Words<16> words;
  };
  static constexpr int kSumStride = kTile + 4;
  // Rows are longer than they need be: those of a tile then lie in different banks.
  struct alignas(32) Shared {
    Stored matrix[kTile][kTile + kEight];
    union Room {  // of a warp: a tile on its way in, or its sums on their way out
      Eight tile[kTile][kRowEights + 1];
      float sums[kTile * kSumStride];
    } rooms[kWarps];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const int lane = me % 32;
    auto& room = shared.rooms[me / 32];
    const std::int64_t row = thread.block() / parts;
    const std::int64_t part = thread.block() - row * parts;
    // In the row: this lane's first element of the warp's first tile.
    const std::int64_t first = part * kBlockElements + me / 32 * (kMine * Fma::kTileElements) + lane * kEight;

    Eight eights[kMine] = {};
    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        if (const std::int64_t at = first + t * Fma::kTileElements + i; at < count) {
          const auto words = load_words<Element, kCount>(src + (row * count + at));
          if constexpr (kCount == kEight) {
            eights[t].words = words;
          } else {
            put(eights[t].words, i, static_cast<Stored>(words.word[0]));
          }
        }
      }
    }
    shared.matrix[me / kTile][me % kTile] = Element::from(fma_matrix(me / kTile, me % kTile));
    typename Tiles::Left tiles[kMine];
    typename Tiles::Sums sums[kMine];
    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      room.tile[lane / kRowEights][lane % kRowEights] = eights[t];
      thread.sync();
      tiles[t].load(&room.tile[0][0], (kRowEights + 1) * kEight);
      sums[t].clear(thread);
      thread.sync();
    }
    typename Tiles::Right matrix;
    matrix.load(&shared.matrix[0][0], kTile + kEight);

    for (std::int64_t left = steps; left > 0; --left) {
      BENCH_UNROLL
      for (int t = 0; t < kMine; ++t) {
        sums[t].add(tiles[t], matrix);
      }
    }

    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      sums[t].store(room.sums, kSumStride);
      thread.sync();
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        if (const std::int64_t at = first + t * Fma::kTileElements + i; at < count) {
          float values[kCount];
          for (int k = 0; k < kCount; ++k) {
            values[k] = room.sums[lane / kRowEights * kSumStride + lane % kRowEights * kEight + i + k];
          }
          store_values<Element>(dst + (row * count + at), values);
        }
      }
      thread.sync();
    }
  }
};

}  // namespace bench::kernels::cuda
