#include <cuda_runtime_api.h>

#include "kernels/device/cuda/stream.h"
#include "kernels/tune/fastest.h"

namespace bench::kernels::cuda {

bool recording(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace bench::kernels::cuda
