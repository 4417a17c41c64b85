#include "kernels/devices/cuda/allocator.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::int64_t kPage = std::int64_t{2} << 20;
constexpr std::int64_t kSharedBelow = std::int64_t{1} << 20;
constexpr std::int64_t kSharedUnit = 512;
constexpr std::int64_t kMostUnused = 8;  // a kept segment may be larger by an eighth of what is asked for

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

template <class Fits>
CachingAllocator::Blocks::iterator CachingAllocator::smallest_free(const Fits& fits) {
  auto best = blocks_.end();
  for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
    const Block& block = at->second;
    if (!block.used && fits(block) && (best == blocks_.end() || block.bytes < best->second.bytes)) {
      best = at;
    }
  }
  return best;
}

CachingAllocator::~CachingAllocator() {
  for (const auto& [address, block] : blocks_) {
    if (address == block.segment) {
      runtime_.free(address);
    }
  }
}

std::byte* CachingAllocator::allocate(std::int64_t bytes) {
  const bool shared = bytes < kSharedBelow;
  const std::int64_t rounded = rounded_up(bytes, shared ? kSharedUnit : kPage);
  auto block = smallest_free([&](const Block& kept) {
    return kept.shared == shared && kept.bytes >= rounded &&
           (shared || kept.bytes - rounded <= rounded / kMostUnused);
  });
  if (block == blocks_.end()) {
    block = reserve(shared ? kPage : rounded, shared);
    if (block == blocks_.end()) {
      return nullptr;
    }
  }
  if (shared && block->second.bytes > rounded) {
    split(block, rounded);
  }
  block->second.used = true;
  return block->first;
}

std::byte* CachingAllocator::take_kept(std::int64_t bytes) {
  const auto block = smallest_free([&](const Block& kept) { return kept.bytes >= bytes; });
  if (bytes <= 0 || block == blocks_.end()) {
    return nullptr;
  }
  block->second.used = true;
  return block->first;
}

void CachingAllocator::free(std::byte* data) noexcept {
  auto block = blocks_.find(data);
  if (block == blocks_.end()) {
    return;
  }
  block->second.used = false;
  if (const auto next = std::next(block); next != blocks_.end()) {
    block = merge(block, next);
  }
  if (block != blocks_.begin()) {
    merge(std::prev(block), block);
  }
}

std::int64_t CachingAllocator::release_cached() {
  std::int64_t released = 0;
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    if (!is_idle_segment(block)) {
      ++block;
      continue;
    }
    // Erased first: after an error it is unknown whether the segment is still there.
    std::byte* const segment = block->first;
    reserved_ -= block->second.bytes;
    released += block->second.bytes;
    block = blocks_.erase(block);
    runtime_.check(runtime_.free(segment), "cudaFree");
  }
  return released;
}

CachingAllocator::Blocks::iterator CachingAllocator::reserve(std::int64_t bytes, bool shared) {
  void* data = nullptr;
  int error = runtime_.allocate(data, static_cast<std::size_t>(bytes));
  if (error == status::kMemoryAllocation) {
    runtime_.last_error();  // else the refusal stays set and the next launch is blamed for it
    release_cached();
    error = runtime_.allocate(data, static_cast<std::size_t>(bytes));
    if (error == status::kMemoryAllocation) {
      runtime_.last_error();
      return blocks_.end();
    }
  }
  runtime_.check(error, fmt::format("cudaMalloc of {} B", bytes));
  auto* const segment = static_cast<std::byte*>(data);
  reserved_ += bytes;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  return blocks_.emplace(segment, Block{.segment = segment, .bytes = bytes, .used = false, .shared = shared})
      .first;
}

void CachingAllocator::split(Blocks::iterator block, std::int64_t bytes) {
  Block rest = block->second;
  rest.bytes -= bytes;
  blocks_.emplace(block->first + bytes, rest);
  block->second.bytes = bytes;
}

CachingAllocator::Blocks::iterator CachingAllocator::merge(Blocks::iterator first, Blocks::iterator second) {
  const bool both_free = !first->second.used && !second->second.used;
  if (!both_free || first->second.segment != second->second.segment) {
    return first;
  }
  first->second.bytes += second->second.bytes;
  blocks_.erase(second);
  return first;
}

bool CachingAllocator::is_idle_segment(Blocks::const_iterator block) const {
  if (block->second.used || block->first != block->second.segment) {
    return false;
  }
  const auto next = std::next(block);
  return next == blocks_.end() || next->second.segment != block->second.segment;
}

UntrackedBlock::UntrackedBlock(CachingAllocator& allocator, std::int64_t bytes)
    : allocator_(allocator), data_(allocator.allocate(bytes)) {
  if (data_ == nullptr) {
    throw OutOfMemory(fmt::format("the card has no {} B left to measure its peaks with", bytes), bytes);
  }
}

}  // namespace bench::kernels::cuda
