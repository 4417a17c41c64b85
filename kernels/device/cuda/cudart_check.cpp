// Turns the runtime's error codes into exceptions that name the call, the value and the place.
#include <cuda_runtime_api.h>

#include "kernels/device/cuda/runtime.h"
#include "kernels/device/cuda/status.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cuda {

static_assert(status::kSuccess == cudaSuccess && status::kMemoryAllocation == cudaErrorMemoryAllocation &&
              status::kInsufficientDriver == cudaErrorInsufficientDriver &&
              status::kNoDevice == cudaErrorNoDevice && status::kIllegalAddress == cudaErrorIllegalAddress &&
              status::kLaunchFailure == cudaErrorLaunchFailure);

void check(int error, const char* call, Place place) {
  cuda_runtime().check(error, call, place);
}

void check_launch(const std::string& what, Place place) {
  check(cudaGetLastError(), what.c_str(), place);
}

}  // namespace bench::kernels::cuda
