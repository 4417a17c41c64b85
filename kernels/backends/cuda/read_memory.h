// A kernel that only reads.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace bench::kernels::cuda {

// Queues a read of `bytes` of the card's memory, from an address of 16 bytes' alignment on. Only in a program
// that has kernels of its own.
void read_memory(CUstream_st* stream, const std::byte* from, std::int64_t bytes);

}  // namespace bench::kernels::cuda
