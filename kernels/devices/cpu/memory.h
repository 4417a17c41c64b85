// Host memory for tensors: large blocks on huge pages, given back to the operating system when freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bench::kernels {

// From this size on a block is mapped by itself, on a 2 MiB boundary; smaller ones come from the heap.
inline constexpr std::int64_t kMappedFrom = std::int64_t{4} << 20;

// `bytes` > 0. At least 64-byte aligned; nullptr when there is no memory left.
std::byte* cpu_allocate(std::int64_t bytes) noexcept;
void cpu_free(std::byte* data, std::int64_t bytes) noexcept;

// Gives the pages of a mapped block that were never written memory too, as a card's memory has it from the
// start; contents stay. A hint: before Linux 5.14 nothing happens.
void give_pages(std::byte* data, std::int64_t bytes) noexcept;

struct CpuFree {
  std::int64_t bytes = 0;
  void operator()(std::byte* data) const noexcept { cpu_free(data, bytes); }
};
using CpuBlock = std::unique_ptr<std::byte, CpuFree>;
// Throws OutOfMemory.
CpuBlock cpu_block(std::int64_t bytes);

// Twice the last cache, or 64 MiB where nothing tells its size: reading that much leaves nothing else in it.
// At most 256 MiB, because virtual machines report caches that are not theirs.
std::int64_t bytes_beyond_caches();

// Resident memory of this process in bytes.
std::int64_t resident_bytes();

}  // namespace bench::kernels
