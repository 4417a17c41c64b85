#include <cuda_runtime_api.h>

#include "kernels/device/cuda/library.h"

namespace bench::kernels::cuda {

void library_failed(const std::string& what, bool out_of_memory) {
  const cudaError_t error = cudaDeviceSynchronize();
  cudaGetLastError();  // it is this failure's, not the next call's
  raise_library(what, out_of_memory, {.error = error, .stays_set = cudaGetLastError() != cudaSuccess});
}

}  // namespace bench::kernels::cuda
