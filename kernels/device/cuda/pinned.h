// Page-locked host memory with one owner: the card copies from and to it by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/device/cuda/runtime.h"

namespace bench::kernels::cuda {

class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  // Throws OutOfMemory naming the bytes. The driver locks whole pages (4 KiB) and rounds up no further.
  PinnedBuffer(Runtime& runtime, std::int64_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { reset(); }

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void reset() noexcept;

 private:
  Runtime* runtime_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace bench::kernels::cuda
