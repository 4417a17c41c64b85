// Where every tensor of a program lies, and what is live when. Tensors that never live together share bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/networks/program/program.h"

namespace bench::kernels {

// Bytes of the arena that are needed while one instruction runs, and of scratch.
struct LiveBytes {
  std::int64_t activations = 0;          // and statistics
  std::int64_t parameter_gradients = 0;  // of a later micro-batch, until they are added up
  std::int64_t scratch = 0;

  std::int64_t total() const { return activations + parameter_gradients + scratch; }
};

struct Placement {
  // Offsets of the step's tensors, by id: in the arena, or for scratch apart from it in a region of its own.
  std::vector<std::int64_t> offsets;
  std::int64_t arena_bytes = 0;
  std::int64_t scratch_bytes = 0;  // the largest that one instruction needs; 0 where scratch is in the arena
  bool scratch_in_arena = false;
  std::vector<LiveBytes> live;  // by instruction
};

// Where scratch may lie: in a region as large as the largest, or among the other tensors where that takes
// less in total.
enum class ScratchPlace { apart, where_smaller };

Placement place(const Program& program, ScratchPlace scratch = ScratchPlace::apart);

// --- Packing buffers that live for a while each into one block of memory. Times are counted in steps.

struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0;  // step that writes it
  std::int64_t last = 0;   // last step that reads it
  std::int64_t alignment = kSlotAlignment;
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
