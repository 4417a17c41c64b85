// Turns the runtime's and the libraries' error codes into exceptions.
#include <cuda_runtime_api.h>

#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/runtime.h"
#include "kernels/devices/cuda/stream.h"

namespace bench::kernels::cuda {
namespace {

static_assert(status::kSuccess == cudaSuccess && status::kMemoryAllocation == cudaErrorMemoryAllocation &&
              status::kInsufficientDriver == cudaErrorInsufficientDriver &&
              status::kNoDevice == cudaErrorNoDevice && status::kIllegalAddress == cudaErrorIllegalAddress &&
              status::kLaunchFailure == cudaErrorLaunchFailure);

DeviceAnswer ask_device() {
  DeviceAnswer answer{.error = cudaDeviceSynchronize(), .stays_set = false, .free_bytes = std::nullopt};
  cudaGetLastError();  // it is this failure's, not the next call's
  answer.stays_set = cudaGetLastError() != cudaSuccess;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (answer.error == cudaSuccess && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
    answer.free_bytes = static_cast<std::int64_t>(free_bytes);
  }
  cudaGetLastError();
  return answer;
}

}  // namespace

void check(int error, const char* call, Place place) {
  cuda_runtime().check(error, call, place);
}

void library_failed(const std::string& what, bool out_of_memory) {
  raise_library(what, out_of_memory, ask_device());
}

void library_refused(const std::string& what, bool out_of_memory) {
  raise_device(what, out_of_memory, ask_device());
}

}  // namespace bench::kernels::cuda
