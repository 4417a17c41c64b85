// How the threads of a grid share a row of elements: whole accesses of 16 bytes first, then what is left.
#pragma once

#include "kernels/cuda/words.cuh"

namespace bench::kernels::cuda {

// A thread has kEach accesses, its block's kThreads threads side by side in each of them.
template <int kThreads, int kEach>
struct Spread {
  static constexpr std::int64_t kBlock = std::int64_t{kThreads} * kEach;

  static std::int64_t blocks(std::int64_t accesses) {
    return accesses / kBlock + (accesses % kBlock != 0 ? 1 : 0);
  }

  // A thread's first access; the others follow kThreads apart.
  template <class Thread>
  static BENCH_DEVICE std::int64_t first(const Thread& thread) {
    return thread.block() * kBlock + thread.index();
  }

  // Calls visit with each of a thread's elements from `from` to `to`: those behind the last whole access, or
  // all where an address allows no wide ones.
  template <class Thread, class Visit>
  static BENCH_DEVICE void each_left(const Thread& thread, std::int64_t from, std::int64_t to,
                                     const Visit& visit) {
    const std::int64_t step = std::int64_t{thread.blocks()} * kThreads;
    for (std::int64_t at = from + std::int64_t{thread.block()} * kThreads + thread.index(); at < to;
         at += step) {
      visit(at);
    }
  }
};

}  // namespace bench::kernels::cuda
