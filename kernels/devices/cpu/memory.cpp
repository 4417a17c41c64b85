#include "kernels/devices/cpu/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"

namespace bench::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;
// Below this the processor's address cache holds a block's small pages too, and pages never touched (oneDNN
// books more scratch than it writes) take no memory.
constexpr std::size_t kHugeFrom = std::size_t{32} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// The last, partly used huge page stays small ones. Maps one huge page more than asked for and cuts off both
// ends, so that what is left starts on a boundary.
std::byte* map(std::size_t used) {
  const std::size_t bytes = rounded_up(used, kHugePage);
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  const std::size_t head = misplaced == 0 ? 0 : kHugePage - misplaced;
  if (head > 0) {
    munmap(begin, head);
  }
  munmap(begin + head + bytes, kHugePage - head);
  // A hint: where huge pages are switched off the block works with small ones.
  if (used >= kHugeFrom) {
    madvise(begin + head, used / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
  return begin + head;
}

}  // namespace

std::byte* cpu_allocate(std::int64_t bytes) noexcept {
  if (bytes < kMappedFrom) {
    return static_cast<std::byte*>(
        std::aligned_alloc(kCacheLine, rounded_up(static_cast<std::size_t>(bytes), kCacheLine)));
  }
  return map(static_cast<std::size_t>(bytes));
}

void cpu_free(std::byte* data, std::int64_t bytes) noexcept {
  if (bytes < kMappedFrom) {
    std::free(data);
  } else {
    munmap(data, rounded_up(static_cast<std::size_t>(bytes), kHugePage));
  }
}

void give_pages(std::byte* data, std::int64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kAtOnce =
      8 * kHugePage;  // many gigabytes take seconds, or minutes where memory is short
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t all = rounded_up(static_cast<std::size_t>(bytes), page);
  for (std::size_t at = 0; at < all && !interrupted(); at += kAtOnce) {
    madvise(data + at, std::min(kAtOnce, all - at), MADV_POPULATE_WRITE);
  }
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

CpuBlock cpu_block(std::int64_t bytes) {
  std::byte* data = cpu_allocate(bytes);
  if (data == nullptr) {
    throw OutOfMemory(fmt::format("the host has no {} B left", bytes), bytes);
  }
  return {data, CpuFree{bytes}};
}

std::int64_t bytes_beyond_caches() {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return cache > 0 ? std::clamp(2 * cache, 16 * kMiB, 256 * kMiB) : 64 * kMiB;
}

std::int64_t resident_bytes() {
  // The allocator may still hold memory that earlier points freed.
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t of_files = 0;  // pages of the program and its libraries, which the first step reads in
  statm >> size >> resident >> of_files;
  return statm ? (resident - of_files) * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace bench::kernels
