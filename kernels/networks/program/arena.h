// Packs buffers that live for a while each into one block of memory, so that those that never live together
// share bytes. Pure; times are counted in steps of a network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bench::kernels {

inline constexpr std::int64_t kArenaAlignment = 64;  // bytes, where a buffer asks for no more

constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment = kArenaAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0;  // step that writes it
  std::int64_t last = 0;   // last step that reads it
  std::int64_t alignment = kArenaAlignment;
};

struct Packing {
  std::vector<std::int64_t> offsets;  // one for each lifetime, multiples of its alignment
  std::int64_t bytes = 0;             // of the whole block
};

// The smaller of two greedy packings, largest buffer first and earliest buffer first; each buffer goes into
// the tightest gap between those already placed that live at the same time (Pisarchyk and Lee 2020,
// arXiv:2001.03288).
Packing pack_arena(std::span<const Lifetime> lifetimes);

}  // namespace bench::kernels
