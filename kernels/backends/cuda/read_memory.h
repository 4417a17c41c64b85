// A kernel that only reads.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace bench::kernels::cuda {

// Queues a read of `bytes` of the card's memory at `from`, which is aligned to 16 bytes. Defined only where
// CUDA kernels are compiled.
void read_memory(CUstream_st* stream, const std::byte* from, std::int64_t bytes);

}  // namespace bench::kernels::cuda
