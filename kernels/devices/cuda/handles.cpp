#include "kernels/devices/cuda/handles.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::cuda {

PinnedBuffer::PinnedBuffer(Runtime& runtime, std::int64_t bytes) : bytes_(bytes) {
  if (bytes <= 0) {
    return;
  }
  void* data = nullptr;
  const int error = runtime.allocate_pinned(data, static_cast<std::size_t>(bytes));
  if (error == status::kMemoryAllocation) {
    runtime.last_error();
    throw OutOfMemory(fmt::format("the host cannot lock {} B of memory for the card", bytes), bytes);
  }
  runtime.check(error, "cudaHostAlloc");
  data_ = {static_cast<std::byte*>(data), Free{&runtime}};
}

}  // namespace bench::kernels::cuda
