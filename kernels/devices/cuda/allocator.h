// Device memory from cudaMalloc, kept when freed and handed out again: cudaMalloc and cudaFree take up to
// milliseconds, and cudaFree waits for the card.
//
// Rounding. The driver maps memory in pages of 2 MiB, so segments are whole multiples of that. A block below
// 1 MiB is rounded up to 512 B and shares a 2 MiB segment with others; a larger one is rounded up to 2 MiB
// and has a segment to itself. A kept segment serves a block again that fills at least 8/9 of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// Blocks are for the work of one stream: a freed block may be handed out while work queued before still uses
// it, because work queued later runs after that.
class CachingAllocator {
 public:
  explicit CachingAllocator(Runtime& runtime) : runtime_(runtime) {}
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;
  ~CachingAllocator();

  // `bytes` > 0; at least 256-byte aligned. Where the driver has nothing left, gives back the kept segments
  // and asks again; nullptr where that does not help. Throws as Runtime::check does for other errors.
  std::byte* allocate(std::int64_t bytes);
  // A kept block of that size or more, without asking the driver; nullptr where there is none.
  std::byte* take_kept(std::int64_t bytes);
  void free(std::byte* data) noexcept;

  // Gives the segments that nothing uses back to the driver, and returns their bytes. Waits for the card.
  std::int64_t release_cached();

  // Bytes of all segments, in use or kept, as cudaMalloc gave them: the most since restart_peak(). PyTorch's
  // max_memory_reserved.
  std::int64_t peak_reserved() const { return peak_reserved_; }
  void restart_peak() { peak_reserved_ = reserved_; }

 private:
  struct Block {
    std::byte* segment = nullptr;  // the address it starts at
    std::int64_t bytes = 0;        // as rounded
    bool used = false;
    bool shared = false;  // a piece of a segment for small blocks
  };
  using Blocks = std::map<std::byte*, Block>;

  template <class Fits>
  Blocks::iterator smallest_free(const Fits& fits);
  Blocks::iterator reserve(std::int64_t bytes, bool shared);
  void split(Blocks::iterator block, std::int64_t bytes);
  Blocks::iterator merge(Blocks::iterator first, Blocks::iterator second);
  // The block is its whole segment, and free.
  bool is_idle_segment(Blocks::const_iterator block) const;

  Runtime& runtime_;
  Blocks blocks_;  // by address; those of a segment cover it without gaps
  std::int64_t reserved_ = 0;
  std::int64_t peak_reserved_ = 0;
};

// A block with one owner that no tracker sees.
class UntrackedBlock {
 public:
  // Throws OutOfMemory naming the bytes.
  UntrackedBlock(CachingAllocator& allocator, std::int64_t bytes);
  UntrackedBlock(const UntrackedBlock&) = delete;
  UntrackedBlock& operator=(const UntrackedBlock&) = delete;
  ~UntrackedBlock() { allocator_.free(data_); }
  std::byte* data() const { return data_; }

 private:
  CachingAllocator& allocator_;
  std::byte* data_;
};

}  // namespace bench::kernels::cuda
