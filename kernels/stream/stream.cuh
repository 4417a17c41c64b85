// The stream kernels' functions of an element, and the sums of squares that read memory and write next to
// nothing.
#pragma once

#include "kernels/cuda/row_group.cuh"
#include "kernels/stream/stream.h"

namespace bench::kernels::cuda {

struct CopyFunction {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return x[0]; }
};
struct ScaleFunction {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return Stream::kScalar * x[0]; }
};
struct SumFunction {
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[0] + x[1]; }
};
struct TriadFunction {
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[0] + Stream::kScalar * x[1]; }
};

// partial[row][part] = Σ src² over a part of the row. Each block sums one part; a thread has kUnroll accesses
// under way before it needs the first.
template <class Element, int kCount>
struct SquareSums {
  static constexpr int kThreads = 256;
  static constexpr int kUnroll = 4;
  static constexpr const char* kName = "sums of squares";
  using Stored = typename Element::Stored;

  const Stored* src;
  float* partial;
  std::int64_t count;     // elements of a row
  std::int64_t each;      // accesses of a part
  std::int32_t parts;     // of a row
  std::int64_t accesses;  // whole ones of a row; the last part takes what is left behind them

  struct Shared {
    WarpValues<float> room;
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const std::int64_t row = thread.block() / parts;
    const std::int64_t part = thread.block() - row * parts;
    const Stored* const from = src + row * count;
    const std::int64_t end = (part + 1) * each;
    const std::int64_t last = end < accesses ? end : accesses;

    float sums[kCount] = {};
    for (std::int64_t first = part * each + thread.index(); first < last; first += kThreads * kUnroll) {
      Words<kBytesOf<Element, kCount>> words[kUnroll];
      BENCH_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::int64_t at = first + u * kThreads; at < last) {
          words[u] = load_words<Element, kCount>(from + at * kCount);
        }
      }
      BENCH_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::int64_t at = first + u * kThreads; at < last) {
          float x[kCount];
          unpack<Element>(words[u], x);
          BENCH_UNROLL
          for (int i = 0; i < kCount; ++i) {
            sums[i] += x[i] * x[i];
          }
        }
      }
    }
    if (const std::int64_t at = accesses * kCount + thread.index(); part == parts - 1 && at < count) {
      float x[1];
      load_values<Element>(from + at, x);
      sums[0] += x[0] * x[0];
    }
    float sum = sums[0];
    BENCH_UNROLL
    for (int i = 1; i < kCount; ++i) {
      sum += sums[i];
    }
    sum = join_group<kThreads>(thread, sum, Sum{}, shared.room);
    if (thread.index() == 0) {
      partial[thread.block()] = sum;
    }
  }
};

// dst[row] = the sum of the row's parts, a warp a row.
template <class Memory>
struct FinishSquareSums {
  static constexpr int kThreads = RowGroup<kWarp>::kThreads;
  static constexpr const char* kName = "finish sums of squares";

  const float* partial;
  float* dst;
  std::int64_t rows;
  std::int32_t parts;

  struct Shared {
    WarpValues<float> room;
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kWarp>::row(thread);
    const int lane = RowGroup<kWarp>::lane(thread);
    float sum = 0;
    for (std::int32_t part = lane; row < rows && part < parts; part += kWarp) {
      sum += partial[row * parts + part];
    }
    sum = join_group<kWarp>(thread, sum, Sum{}, shared.room);
    if (lane == 0 && row < rows) {
      dst[row] = sum;
    }
  }
};

}  // namespace bench::kernels::cuda
