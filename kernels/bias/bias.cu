// kernels/bias/launch.h on a CUDA stream.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/bias/launch.h"

namespace bench::kernels::cuda {

void finish(CUstream_st* stream, const Finish& what, void* dst, const void* bias, const void* residual) {
  launch_finish<Gpu>(StreamQueue(stream), what, dst, bias, residual);
}

std::int64_t column_sums_scratch(const Matrix& matrix) {
  return column_sums_bytes(matrix);
}

void column_sums(CUstream_st* stream, const Matrix& matrix, const void* values, float* sums, void* partial) {
  launch_column_sums<Gpu>(StreamQueue(stream), matrix, values, sums, partial);
}

void narrow(CUstream_st* stream, const float* from, void* to, std::int64_t count, Dtype dtype) {
  launch_narrow<Gpu>(StreamQueue(stream), from, to, count, dtype);
}

}  // namespace bench::kernels::cuda
