// What the device asks of NVIDIA's libraries. Needs none of their headers.
#pragma once

#include <cstdint>
#include <string>

#include "bench/dtype.h"
#include "kernels/device/cuda/device.h"

namespace bench::kernels::cuda {

std::string cudnn_version();     // "9.19.0", of the library loaded
std::string cublaslt_version();  // "13.1.0"

// See Backend::matmul_rate. Tries the algorithms that the library suggests, and returns the fastest one's
// rate; 0 where it suggests none.
double cublaslt_matmul_rate(CudaDevice& device, Dtype dtype, std::int64_t size);

}  // namespace bench::kernels::cuda
