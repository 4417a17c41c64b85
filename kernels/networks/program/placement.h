// Where every tensor of a program lies, and what is live when.
#pragma once

#include <cstdint>
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

}  // namespace bench::kernels
