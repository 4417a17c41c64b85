// The softmax of attention's scores and its gradient. Where they are causal, row i takes part up to its
// element i: elements after it are not read and are written as zeros.
#pragma once

#include <cstdint>

#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

// The rows of several squares, each of `length` rows of `columns` elements.
struct SquareRows {
  std::int64_t squares;
  std::int64_t length;
  std::int64_t columns;
  bool causal;

  std::int64_t count() const { return squares * length; }

  struct Row {
    std::int64_t square;
    std::int64_t within;  // where it begins in its square
    std::int64_t seen;    // elements that take part
    bool inside;          // whether there is such a row
  };
  // The row of a thread's group. Rows outside see no element.
  template <int kGroup, class Thread>
  BENCH_DEVICE Row row(const Thread& thread) const {
    const std::int64_t index = RowGroup<kGroup>::row(thread);
    const std::int64_t square = index / length;
    const std::int64_t i = index - square * length;
    const bool inside = square < squares;
    return {square, i * columns, !inside ? 0 : causal ? i + 1 : columns, inside};
  }
};

// `kCount` elements of a row from element `first` on, `rest` of which it sees: zero after them.
template <int kCount>
BENCH_DEVICE void hide(float (&values)[kCount], std::int64_t rest) {
  for (int i = 0; i < kCount; ++i) {
    values[i] = i < rest ? values[i] : 0.0F;
  }
}

// From fp32 scores, which dst may be itself where it is fp32.
template <class Element, int kCount, int kGroup>
struct SquareSoftmax {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "softmax of squares";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  SquareRows rows;
  const float* scores;
  std::int64_t scores_step;  // from one square to the next
  Stored* dst;
  std::int64_t dst_step;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const auto row = rows.template row<kGroup>(thread);
    const float* const from = scores + row.square * scores_step + row.within;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float largest = kBelowAll;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float x[kCount];
      load_floats<Memory>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        largest = c + i < row.seen && x[i] > largest ? x[i] : largest;
      }
    }
    largest = join_group<kGroup>(thread, largest, Largest{}, room);
    float sum = 0;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float x[kCount];
      load_floats<Memory>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        x[i] = exponential(x[i] - largest);
      }
      hide(x, row.seen - c);
      for (int i = 0; i < kCount; ++i) {
        sum += x[i];
      }
    }
    sum = join_group<kGroup>(thread, sum, Sum{}, room);
    const float share = 1.0F / sum;
    for (std::int64_t c = first; row.inside && c < rows.columns; c += kStep) {
      float x[kCount] = {};
      if (c < row.seen) {
        load_floats<Memory>(from + c, x);
        for (int i = 0; i < kCount; ++i) {
          x[i] = exponential(x[i] - largest) * share;
        }
        hide(x, row.seen - c);
      }
      store_values<Element>(dst + row.square * dst_step + row.within + c, x);
    }
  }
};

// dS = P ∘ (dP − Σ dP ∘ P) · scale of each row. dst has a square after the other, and so has dP; they may be
// the same memory where dst is fp32.
template <class Element, int kCount, int kGroup>
struct SquareSoftmaxGradient {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "softmax of squares gradient";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  SquareRows rows;
  const Stored* probabilities;
  std::int64_t probabilities_step;  // from one square to the next
  const float* gradient;
  Stored* dst;
  float scale;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const auto row = rows.template row<kGroup>(thread);
    const std::int64_t dense = row.square * rows.length * rows.columns + row.within;
    const Stored* const p_row = probabilities + row.square * probabilities_step + row.within;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float along = 0;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float p[kCount];
      float dp[kCount];
      load_values<Element>(p_row + c, p);
      load_floats<Memory>(gradient + dense + c, dp);
      for (int i = 0; i < kCount; ++i) {
        p[i] *= dp[i];
      }
      hide(p, row.seen - c);
      for (int i = 0; i < kCount; ++i) {
        along += p[i];
      }
    }
    along = join_group<kGroup>(thread, along, Sum{}, room);
    for (std::int64_t c = first; row.inside && c < rows.columns; c += kStep) {
      float p[kCount] = {};
      if (c < row.seen) {
        float dp[kCount];
        load_values<Element>(p_row + c, p);
        load_floats<Memory>(gradient + dense + c, dp);
        for (int i = 0; i < kCount; ++i) {
          p[i] *= (dp[i] - along) * scale;
        }
        hide(p, row.seen - c);
      }
      store_values<Element>(dst + dense + c, p);
    }
  }
};

}  // namespace bench::kernels::cuda
