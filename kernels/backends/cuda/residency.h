// How many blocks of a kernel a multiprocessor holds at once, by NVIDIA's rules (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability"; the toolkit's occupancy calculator). The figures need no
// card: the memory plan for a card that is not here counts the same blocks as a launch.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench::kernels::cuda {

// Room on a multiprocessor. All have 65536 registers, and four parts that warps are spread over.
struct Multiprocessor {
  int threads;
  int blocks;
  int shared_bytes;  // the most that is not the L1 cache
  int block_bytes;   // of shared memory that the system takes for each block
  int shared_unit;   // shared memory is given out in multiples of so many bytes
};

// 75 is compute capability 7.5. One that is not in the guide's table gets the least of all.
constexpr Multiprocessor multiprocessor_of(int compute_capability) {
  constexpr int kKi = 1024;
  switch (compute_capability) {
    case 75:
      return {1024, 16, 64 * kKi, 0, 256};
    case 80:
      return {2048, 32, 164 * kKi, kKi, 128};
    case 86:
      return {1536, 16, 100 * kKi, kKi, 128};
    case 89:
    case 120:
      return {1536, 24, 100 * kKi, kKi, 128};
    case 90:
    case 100:
      return {2048, 32, 228 * kKi, kKi, 128};
    default:
      return {1024, 16, 64 * kKi, kKi, 256};
  }
}

// The resources of a block.
struct BlockNeeds {
  int threads = 0;
  int registers = 0;     // of a thread
  int shared_bytes = 0;  // as the kernel declares them
};

constexpr int resident_blocks(const Multiprocessor& on, const BlockNeeds& block) {
  constexpr int kWarpThreads = 32;
  constexpr int kParts = 4;
  constexpr int kPartRegisters = 65536 / kParts;
  constexpr int kUnit = 256;  // registers are given to warps in multiples of so many
  const auto rounded_up = [](int value, int unit) { return (value + unit - 1) / unit * unit; };
  const int warps = (block.threads + kWarpThreads - 1) / kWarpThreads;
  const int warp_registers = std::max(rounded_up(block.registers * kWarpThreads, kUnit), kUnit);
  const int shared = rounded_up(block.shared_bytes + on.block_bytes, on.shared_unit);
  const int by_shared = shared == 0 ? on.blocks : on.shared_bytes / shared;
  return std::min({on.blocks, on.threads / (warps * kWarpThreads),
                   kPartRegisters / warp_registers * kParts / warps, by_shared});
}

// A kernel with kResident promises that so many of its blocks find registers on a multiprocessor that has the
// threads for them: nvcc is held to it (__launch_bounds__), and the registers of a thread follow.
constexpr int registers_for(int threads, int blocks) {
  constexpr int kUnit = 8;
  return std::min(255, 65536 / (threads * blocks) / kUnit * kUnit);
}

template <class Kernel>
constexpr int shared_bytes_of() {
  if constexpr (requires { sizeof(typename Kernel::Shared); }) {
    return static_cast<int>(sizeof(typename Kernel::Shared));
  } else {
    return 0;
  }
}

// At least so many: a compiler that takes fewer registers than promised leaves room for more.
template <class Kernel>
constexpr int resident_blocks(int compute_capability) {
  return resident_blocks(multiprocessor_of(compute_capability),
                         {.threads = Kernel::kThreads,
                          .registers = registers_for(Kernel::kThreads, Kernel::kResident),
                          .shared_bytes = shared_bytes_of<Kernel>()});
}

}  // namespace bench::kernels::cuda
