#include "kernels/device/cuda/library.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/device/cuda/status.h"

namespace bench::kernels::cuda {

void raise_library(const std::string& what, bool out_of_memory, const DeviceAnswer& device) {
  raise_device(what, out_of_memory, device);
  throw std::runtime_error(what);
}

void raise_device(const std::string& what, bool out_of_memory, const DeviceAnswer& device) {
  if (is_sticky(device.error) || device.stays_set) {
    throw DeviceLost(fmt::format("{}; the device answers with error {} from now on", what, device.error));
  }
  if (out_of_memory || device.error == status::kMemoryAllocation) {
    throw OutOfMemory(what, 0);
  }
  if (device.free_bytes && *device.free_bytes < kFullCard) {
    throw OutOfMemory(fmt::format("{}; the card has {} B left", what, *device.free_bytes), 0);
  }
}

bool says_not_supported(std::string_view message) {
  // CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_BAD_PARAM, and those that begin so and tell more.
  return message.find("CUDNN_STATUS_NOT_SUPPORTED") != std::string_view::npos ||
         message.find("CUDNN_STATUS_BAD_PARAM") != std::string_view::npos;
}

bool says_out_of_memory(std::string_view message) {
  // CUDNN_STATUS_ALLOC_FAILED, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
  // CUBLAS_STATUS_ALLOC_FAILED; CUDA_ERROR_OUT_OF_MEMORY, cudaErrorMemoryAllocation and what both are called
  // in words.
  constexpr std::array<std::string_view, 5> kNames{"ALLOC_FAILED", "ALLOCATION_FAILED", "OUT_OF_MEMORY",
                                                   "cudaErrorMemoryAllocation", "out of memory"};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return message.find(name) != std::string_view::npos; });
}

}  // namespace bench::kernels::cuda
