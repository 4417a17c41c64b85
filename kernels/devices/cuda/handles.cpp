#include "kernels/devices/cuda/handles.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::cuda {

PinnedBuffer::PinnedBuffer(Runtime& runtime, std::int64_t bytes) : runtime_(&runtime), bytes_(bytes) {
  if (bytes <= 0) {
    bytes_ = 0;
    return;
  }
  void* data = nullptr;
  const int error = runtime.allocate_pinned(data, static_cast<std::size_t>(bytes));
  if (error == status::kMemoryAllocation) {
    runtime.last_error();
    throw OutOfMemory(fmt::format("the host cannot lock {} B of memory for the card", bytes), bytes);
  }
  runtime.check(error, "cudaHostAlloc");
  data_ = static_cast<std::byte*>(data);
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  if (this != &other) {
    reset();
    runtime_ = std::exchange(other.runtime_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void PinnedBuffer::reset() noexcept {
  if (data_ != nullptr) {
    runtime_->free_pinned(data_);
  }
  runtime_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace bench::kernels::cuda
