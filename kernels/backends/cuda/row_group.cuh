// Rows that one thread, a warp or a whole block does together, depending on how long they are.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

inline constexpr int kWarp = 32;
// The largest of no values.
inline constexpr float kBelowAll = -std::numeric_limits<float>::infinity();
// The same where differences from it must be numbers.
inline constexpr float kLowest = std::numeric_limits<float>::lowest();

struct Sum {
  template <class T>
  BENCH_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  BENCH_DEVICE float operator()(float a, float b) const { return a > b ? a : b; }
};

// kGroup threads a row: 1, 32 or kThreads.
template <int kGroup>
struct RowGroup {
  static constexpr int kThreads = 256;
  static constexpr int kRows = kThreads / kGroup;  // of a block
  static_assert(kGroup == 1 || kGroup == kWarp || kGroup == kThreads);

  static std::int64_t blocks(std::int64_t rows) { return (rows + kRows - 1) / kRows; }

  template <class Thread>
  static BENCH_DEVICE std::int64_t row(const Thread& thread) {
    return std::int64_t{thread.block()} * kRows + thread.index() / kGroup;
  }
  template <class Thread>
  static BENCH_DEVICE int lane(const Thread& thread) {
    return thread.index() % kGroup;
  }
};

// A row's elements by 16 bytes, wherever it begins; those before the first address that allows it and after
// the last one by one.
template <class Element>
class RowAccesses {
 public:
  // Not `wide`: all one by one, as where two rows that are accessed alike do not allow it at the same
  // elements.
  BENCH_DEVICE RowAccesses(const typename Element::Stored* row, std::int64_t count, bool wide)
      : count_(count) {
    constexpr auto kEach = static_cast<std::int64_t>(sizeof *row);
    const std::int64_t before = (kAccess - reinterpret_cast<std::uintptr_t>(row) % kAccess) % kAccess / kEach;
    first_ = wide && before < count ? before : count;
    last_ = first_ + (count - first_) / kLanes<Element> * kLanes<Element>;
  }

  // Calls visit.template operator()<kCount>(place of the first of kCount elements) for those of a thread of
  // kGroup, always the same.
  template <int kGroup, class Visit>
  BENCH_DEVICE void each(int lane, const Visit& visit) const {
    BENCH_ROLLED
    for (std::int64_t at = first_ + std::int64_t{lane} * kLanes<Element>; at < last_;
         at += std::int64_t{kGroup} * kLanes<Element>) {
      visit.template operator()<kLanes<Element>>(at);
    }
    BENCH_ROLLED
    for (std::int64_t i = lane; i < first_ + (count_ - last_); i += kGroup) {
      visit.template operator()<1>(i < first_ ? i : last_ + (i - first_));
    }
  }

 private:
  std::int64_t count_;
  std::int64_t first_;  // of the accesses of 16 bytes
  std::int64_t last_;   // after them
};

// Room for a block to exchange one value of each warp.
template <class T>
using WarpValues = T[256 / kWarp];

// Joins the values of a group's threads, and gives all of them the result. Every thread of the block must
// come. `room` may be used again at once.
template <int kGroup, class Thread, class T, class Join>
BENCH_DEVICE T join_group(const Thread& thread, T value, const Join& join, WarpValues<T>& room) {
  if constexpr (kGroup > 1) {
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
      value = join(value, thread.shuffle_xor(value, mask));
    }
  }
  if constexpr (kGroup > kWarp) {
    if (thread.index() % kWarp == 0) {
      room[thread.index() / kWarp] = value;
    }
    thread.sync();
    value = room[0];
    for (int warp = 1; warp < kGroup / kWarp; ++warp) {
      value = join(value, room[warp]);
    }
    thread.sync();
  }
  return value;
}

// One thread where a warp's lanes would have less than one element each, a block where a warp would take
// long. Depends only on the row's elements: scratch of one value a block is planned with it.
inline int group_of(std::int64_t elements) {
  return elements <= 16 ? 1 : elements <= 4096 ? kWarp : RowGroup<1>::kThreads;
}

template <class Visit>
void with_group(std::int64_t elements, Visit visit) {
  switch (group_of(elements)) {
    case 1:
      return visit.template operator()<1>();
    case kWarp:
      return visit.template operator()<kWarp>();
    default:
      return visit.template operator()<RowGroup<1>::kThreads>();
  }
}

// Calls visit with the elements of one access and the threads of one row.
template <class Element, class Visit, class... Pointers>
void with_row_access(std::int64_t elements, Visit visit, const Pointers*... pointers) {
  with_access<Element>(
      elements,
      [&]<int kCount>() {
        with_group(elements, [&]<int kGroup>() { visit.template operator()<kCount, kGroup>(); });
      },
      pointers...);
}

// Blocks that so many rows take.
inline std::int64_t blocks_of_rows(std::int64_t rows, std::int64_t elements) {
  std::int64_t blocks = 0;
  with_group(elements, [&]<int kGroup>() { blocks = RowGroup<kGroup>::blocks(rows); });
  return blocks;
}

}  // namespace bench::kernels::cuda
