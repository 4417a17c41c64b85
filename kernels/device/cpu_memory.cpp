#include "kernels/device/cpu_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

std::size_t rounded_up(std::int64_t bytes, std::size_t multiple) {
  return (static_cast<std::size_t>(bytes) + multiple - 1) / multiple * multiple;
}

// Maps one huge page more than asked for and cuts off both ends, so that what is left starts on a boundary.
std::byte* map(std::size_t bytes) {
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
  madvise(begin + head, bytes, MADV_HUGEPAGE);
  return begin + head;
}

}  // namespace

std::byte* cpu_allocate(std::int64_t bytes) noexcept {
  if (bytes < kMappedFrom) {
    return static_cast<std::byte*>(std::aligned_alloc(kCacheLine, rounded_up(bytes, kCacheLine)));
  }
  return map(rounded_up(bytes, kHugePage));
}

void cpu_free(std::byte* data, std::int64_t bytes) noexcept {
  if (bytes < kMappedFrom) {
    std::free(data);
  } else {
    munmap(data, rounded_up(bytes, kHugePage));
  }
}

CpuBlock cpu_block(std::int64_t bytes) {
  std::byte* data = cpu_allocate(bytes);
  if (data == nullptr) {
    throw OutOfMemory(fmt::format("the host has no {} B left", bytes), bytes);
  }
  return {data, CpuFree{bytes}};
}

std::int64_t resident_bytes() {
  // What earlier points freed may still lie in the allocator's hands: it is in use by nobody.
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return statm ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace bench::kernels
