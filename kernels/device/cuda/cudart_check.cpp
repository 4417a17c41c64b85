// Turns the runtime's error codes into exceptions that name the call, the value and the place.
#include <cuda_runtime_api.h>

#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cuda {

void check(int error, const char* call, std::source_location place) {
  const auto status = static_cast<cudaError_t>(error);
  if (status == cudaSuccess) {
    return;
  }
  throw std::runtime_error(fmt::format("{} failed: {} ({}: {}) at {}:{}", call, error,
                                       cudaGetErrorName(status), cudaGetErrorString(status),
                                       place.file_name(), place.line()));
}

void check_launch(const std::string& what, std::source_location place) {
  check(cudaGetLastError(), what.c_str(), place);
}

}  // namespace bench::kernels::cuda
