// Rows of a table looked up by token ids, and the table's gradient.
#pragma once

#include "kernels/cuda/row_group.cuh"
#include "kernels/cuda/units.cuh"

namespace bench::kernels::cuda {

// Units are rows of accesses of kBytes; a token that names no row of the table gives zeros.
template <class Memory, int kBytes>
struct LookUp {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "embedding";

  Units units;
  const std::int32_t* tokens;
  std::int32_t vocabulary;
  const std::byte* table;
  std::byte* dst;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    const std::int32_t token = tokens[unit.n];
    Words<kBytes> words{};
    if (token >= 0 && token < vocabulary) {
      words = Memory::template load<kBytes>(table +
                                            (std::int64_t{token} * units.columns() + unit.column) * kBytes);
    }
    Memory::store(dst + std::int64_t{index} * kBytes, words);
  }
};

template <class Memory>
struct ZeroBytes {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "zero";

  std::byte* dst;
  std::int64_t bytes;  // even
  std::int64_t whole;  // accesses of 16, from the start

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t first = std::int64_t{thread.block()} * kThreads + thread.index();
    const std::int64_t step = std::int64_t{thread.blocks()} * kThreads;
    for (std::int64_t at = first; at < whole; at += step) {
      Memory::store(dst + at * kAccess, Words<kAccess>{});
    }
    for (std::int64_t at = whole * kAccess + first * 2; at < bytes; at += step * 2) {
      Memory::store(dst + at, Words<2>{});
    }
  }
};

// Adds to each row of the table the gradients of the places that name it, in their order. A warp looks at one
// place and 32 accesses of its features; the first place that names a token goes on, through those behind it
// that name the same, the others have nothing to do. So nothing is added to by two threads, and nothing
// sorted: all places are read by all warps, which a cache makes cheap.
template <class Element, int kCount>
struct EmbeddingGradient {
  static constexpr int kThreads = 128;
  static constexpr const char* kName = "embedding backward";
  using Stored = typename Element::Stored;

  const std::int32_t* tokens;
  std::int64_t rows;
  std::int32_t vocabulary;
  std::int64_t width;
  std::int32_t tiles;  // of 32 · kCount features
  const Stored* diff_dst;
  Stored* table;

  static std::int64_t blocks(std::int64_t warps) {
    constexpr int kWarps = kThreads / kWarp;
    return (warps + kWarps - 1) / kWarps;
  }

  // All lanes of a warp take every turn together.
  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t warp = (std::int64_t{thread.block()} * kThreads + thread.index()) / kWarp;
    const int lane = thread.index() % kWarp;
    const std::int64_t row = warp / tiles;
    const std::int32_t token = row < rows ? tokens[row] : -1;
    if (token < 0 || token >= vocabulary || named_before(thread, row, token, lane)) {
      return;
    }
    const std::int64_t feature = ((warp - row * tiles) * kWarp + lane) * kCount;
    const bool inside = feature < width;
    Stored* const out = table + token * width + feature;
    float sum[kCount] = {};
    if (inside) {
      load_values<Element>(out, sum);  // zero, or what is to be added to
    }
    for (std::int64_t first = row / kWarp * kWarp; first < rows; first += kWarp) {
      const std::int64_t place = first + lane;
      std::uint32_t same = thread.ballot(place >= row && place < rows && tokens[place] == token);
      for (std::int64_t at = first; same != 0; same >>= 1, ++at) {
        if ((same & 1U) != 0 && inside) {
          float gradient[kCount];
          load_values<Element>(diff_dst + at * width + feature, gradient);
          for (int i = 0; i < kCount; ++i) {
            sum[i] += gradient[i];
          }
        }
      }
    }
    if (inside) {
      store_values<Element>(out, sum);
    }
  }

 private:
  template <class Thread>
  BENCH_DEVICE bool named_before(const Thread& thread, std::int64_t row, std::int32_t token, int lane) const {
    for (std::int64_t first = 0; first < row; first += kWarp) {
      const std::int64_t place = first + lane;
      if (thread.ballot(place < row && tokens[place] == token) != 0) {
        return true;
      }
    }
    return false;
  }
};

}  // namespace bench::kernels::cuda
