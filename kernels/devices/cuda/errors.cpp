#include "kernels/devices/cuda/errors.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

std::string text_of(CallSite site) {
  const std::string_view file = site.file_name();
  const std::size_t at = file.rfind("/kernels/");
  return fmt::format("{}:{}", at == std::string_view::npos ? file : file.substr(at + 1), site.line());
}

bool is_sticky(int error) {
  constexpr std::array kSticky{
      214,                      // ECC memory error that could not be corrected
      220,                      // NVLink error that could not be corrected
      226,                      // contained memory error: only this process is hit, and must end
      status::kIllegalAddress,  //
      702,                      // launch timed out
      709,                      // context is destroyed
      710,                      // assertion in a kernel
      714,                      // hardware stack error
      715,                      // illegal instruction
      716,                      // misaligned address
      717,                      // invalid address space
      718,                      // invalid program counter
      status::kLaunchFailure,   //
      721,                      // tensor memory was not given back
      810,                      // the MPS server ended this client
      999,                      // unknown: the driver itself is at a loss
  };
  return std::ranges::count(kSticky, error) > 0;
}

void raise(const Failure& failure, std::string_view call, CallSite site) {
  const std::string what = fmt::format("{} failed: {} ({}: {}) at {}", call, failure.error, failure.name,
                                       failure.text, text_of(site));
  if (failure.error == status::kMemoryAllocation) {
    throw OutOfMemory(what, 0);
  }
  if (is_sticky(failure.error) || failure.stays_set) {
    throw DeviceLost(what);
  }
  throw std::runtime_error(what);
}

void Runtime::check(int error, std::string_view call, CallSite site) {
  if (error == status::kSuccess) {
    return;
  }
  const Failure failure{.error = error, .name = error_name(error), .text = error_text(error)};
  last_error();
  const bool stays_set = last_error() != status::kSuccess;
  raise({failure.error, failure.name, failure.text, stays_set}, call, site);
}

bool Runtime::is_recording(CUstream_st* stream) {
  bool capturing = false;
  check(is_capturing(capturing, stream), "cudaStreamIsCapturing");
  return capturing;
}

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
