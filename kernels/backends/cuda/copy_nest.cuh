// Copies along a nest, by the widest accesses that sizes and addresses allow. Bytes are bytes: it knows no
// dtype.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backends/cuda/nest.cuh"

namespace bench::kernels::cuda {

// Accesses of kBytes; the loops' steps and extents are counted in them.
template <class Memory, int kBytes>
struct CopyNest {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "strided copy";

  NestLoops loops;
  std::byte* to;
  const std::byte* from;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[2]; loops.place(thread, at)) {
      Memory::store(to + at[0] * kBytes, Memory::template load<kBytes>(from + at[1] * kBytes));
    }
  }
};

// The nest with `each` elements of its innermost loop as one.
inline LoopNest in_accesses(LoopNest nest, std::int64_t each) {
  for (std::size_t array = 0; array < LoopNest::kMostArrays; ++array) {
    nest.first[array] /= each;
    for (LoopNest::Loop& loop : nest.loops) {
      loop.steps[array] = &loop == &nest.loops.back() ? loop.steps[array] : loop.steps[array] / each;
    }
  }
  if (!nest.loops.empty()) {
    nest.loops.back().extent /= each;
  }
  return nest;
}

// Copies elements of `size` bytes along a nest whose array 0 is written and whose array 1 is read.
template <class Machine, class Queue>
void copy_nest(const Queue& queue, const LoopNest& nest, std::int64_t size, std::byte* to,
               const std::byte* from) {
  // Its lowest set bit is what an access of several elements must divide.
  std::int64_t bytes = (nest.first[0] | nest.first[1]) * size;
  for (const LoopNest::Loop& loop : nest.loops) {
    bytes |= (&loop == &nest.loops.back() ? loop.extent : loop.steps[0] | loop.steps[1]) * size;
  }
  const bool contiguous =
      !nest.loops.empty() && nest.loops.back().steps[0] == 1 && nest.loops.back().steps[1] == 1;
  with_bytes(
      contiguous ? bytes : size,
      [&]<int kBytes>() {
        launch_nest<Machine>(queue, in_accesses(nest, kBytes / size), [&](const NestLoops& loops) {
          return CopyNest<typename Machine::Memory, kBytes>{loops, to, from};
        });
      },
      to, from);
}

}  // namespace bench::kernels::cuda
