// The loops of kernels/operations/array.h for kernel bodies: a thread for each element of a nest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/array.h"

namespace bench::kernels::cuda {

struct NestLoops {
  static constexpr int kThreads = 256;
  static constexpr int kMost = static_cast<int>(LoopNest::kMostLoops);
  static constexpr int kArrays = static_cast<int>(LoopNest::kMostArrays);

  std::uint32_t count = 1;
  int loops = 0;
  Divider extents[kMost];  // the innermost first
  std::int64_t steps[kMost][kArrays] = {};
  std::int64_t first[kArrays] = {};

  NestLoops() = default;
  explicit NestLoops(const LoopNest& nest)
      : count(static_cast<std::uint32_t>(nest.elements())), loops(static_cast<int>(nest.loops.size())) {
    for (int loop = 0; loop < loops; ++loop) {
      const LoopNest::Loop& from = nest.loops[static_cast<std::size_t>(loops - 1 - loop)];
      extents[loop] = Divider(from.extent);
      std::copy(from.steps.begin(), from.steps.end(), steps[loop]);
    }
    std::copy(nest.first.begin(), nest.first.end(), first);
  }

  // Where element number `index` is in each array.
  template <int kCount>
  BENCH_DEVICE void place_of(std::uint32_t index, std::int64_t (&at)[kCount]) const {
    for (int array = 0; array < kCount; ++array) {
      at[array] = first[array];
    }
    BENCH_UNROLL
    for (int loop = 0; loop < kMost; ++loop) {
      if (loop < loops) {
        const std::uint32_t i = extents[loop].take(index);
        for (int array = 0; array < kCount; ++array) {
          at[array] += i * steps[loop][array];
        }
      }
    }
  }

  // The same in fewer instructions, for a loop of several elements a thread.
  template <int kCount>
  BENCH_DEVICE void place_rolled(std::uint32_t index, std::int64_t (&at)[kCount]) const {
    for (int array = 0; array < kCount; ++array) {
      at[array] = first[array];
    }
    BENCH_ROLLED
    for (int loop = 0; loop < loops; ++loop) {
      const std::uint32_t i = extents[loop].take(index);
      for (int array = 0; array < kCount; ++array) {
        at[array] += i * steps[loop][array];
      }
    }
  }

  // A thread's place in each array; false for a thread after the last element.
  template <class Thread, int kCount>
  BENCH_DEVICE bool place(const Thread& thread, std::int64_t (&at)[kCount]) const {
    const std::uint32_t index =
        static_cast<std::uint32_t>(thread.block()) * kThreads + static_cast<std::uint32_t>(thread.index());
    if (index >= count) {
      return false;
    }
    place_of(index, at);
    return true;
  }

  // Of threads with `each` elements.
  std::int64_t blocks(int each) const { return blocks_for(std::int64_t{count}, kThreads * each); }
};

// The nest in accesses of `count` elements, where its innermost loop allows them: `arrays` arrays stay where
// they are in it or lie side by side, and every other step is a whole number of accesses. Array 0 does not
// stay. Its innermost steps count accesses of elements, and are 0 for arrays that stay.
inline std::optional<LoopNest> in_accesses(const LoopNest& nest, std::size_t arrays, std::int64_t count) {
  if (nest.loops.empty() || nest.loops.back().extent % count != 0 || nest.loops.back().steps[0] != 1) {
    return std::nullopt;
  }
  LoopNest made = nest;
  LoopNest::Loop& inner = made.loops.back();
  inner.extent /= count;
  for (std::size_t array = 0; array < arrays; ++array) {
    if (inner.steps[array] == 0) {
      continue;
    }
    if (inner.steps[array] != 1 || nest.first[array] % count != 0) {
      return std::nullopt;
    }
    inner.steps[array] = count;
    for (const LoopNest::Loop& loop : made.loops) {
      if (loop.steps[array] % count != 0) {
        return std::nullopt;
      }
    }
  }
  return made;
}

// Calls visit with parts of a nest that have no more elements than a kernel counts.
template <class Visit>
void for_each_counted(const LoopNest& nest, std::int64_t most, const Visit& visit) {
  if (nest.elements() <= most) {
    return visit(nest);
  }
  const LoopNest::Loop& outer = nest.loops.front();
  const std::int64_t inner = nest.elements() / outer.extent;
  const std::int64_t each = std::max<std::int64_t>(most / inner, 1);
  for (std::int64_t from = 0; from < outer.extent; from += each) {
    LoopNest part = nest;
    part.loops.front().extent = std::min(each, outer.extent - from);
    for (std::size_t array = 0; array < LoopNest::kMostArrays; ++array) {
      part.first[array] += from * outer.steps[array];
    }
    if (part.loops.front().extent == 1) {
      part.loops.erase(part.loops.begin());
    }
    for_each_counted(part, most, visit);
  }
}

// kernel(loops) is launched with a thread for each element, or for each `each` ones from where all threads
// that the device holds have as many.
template <class Machine, class Queue, class MakeKernel>
void launch_nest(const Queue& queue, const LoopNest& nest, const MakeKernel& kernel, int each = 1) {
  for_each_counted(nest, Machine::kMostCounted, [&](const LoopNest& part) {
    const NestLoops loops(part);
    queue.launch(kernel(loops), loops.blocks(part.elements() >= queue.threads() * each ? each : 1));
  });
}

}  // namespace bench::kernels::cuda
