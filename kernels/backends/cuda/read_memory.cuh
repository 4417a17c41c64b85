// Reads memory so that it is in the caches, unchanged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

// Each thread reads kEach accesses. The compiler may leave out no read, for one value of their bits makes the
// thread write: the value that its first access already has, so that memory never changes.
template <class Memory>
struct ReadMemory {
  static constexpr int kThreads = 256;
  static constexpr int kEach = 4;
  static constexpr const char* kName = "read memory";

  std::byte* from;
  std::int64_t vectors;  // whole accesses

  using Share = GridStride<kThreads, kEach>;
  static std::int64_t blocks(std::int64_t vectors) { return Share::blocks(vectors); }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t first = Share::first(thread);
    Vector<kAccess> words[kEach] = {};
    BENCH_UNROLL
    for (int e = 0; e < kEach; ++e) {
      if (const std::int64_t at = first + e * kThreads; at < vectors) {
        words[e] = Memory::template load<kAccess>(from + at * kAccess);
      }
    }
    std::uint32_t bits = 0x9e3779b9U;
    BENCH_UNROLL
    for (int e = 0; e < kEach; ++e) {
      for (int i = 0; i < kAccess / 4; ++i) {
        bits = (bits ^ words[e].word[i]) * 0x85ebca6bU;
      }
    }
    if (bits == 0 && first < vectors) {
      Memory::store(from + first * kAccess, words[0]);
    }
  }
};

template <class Machine, class Queue>
void launch_read(const Queue& queue, const std::byte* from, std::int64_t bytes) {
  using Kernel = ReadMemory<typename Machine::Memory>;
  const std::int64_t vectors = bytes / kAccess;
  queue.launch(Kernel{const_cast<std::byte*>(from), vectors}, Kernel::blocks(vectors));
}

}  // namespace bench::kernels::cuda
