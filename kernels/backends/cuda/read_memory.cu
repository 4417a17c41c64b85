// Compiles kernels/backends/cuda/read_memory.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/backends/cuda/read_memory.cuh"
#include "kernels/backends/cuda/read_memory.h"

namespace bench::kernels::cuda {

void read_memory(CUstream_st* stream, const std::byte* from, std::int64_t bytes) {
  launch_read<Gpu>(StreamQueue(stream), from, bytes);
}

}  // namespace bench::kernels::cuda
