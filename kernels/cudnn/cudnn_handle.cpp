#include "kernels/cudnn/cudnn_handle.h"

#include <cuda_runtime_api.h>
#include <cudnn_graph.h>

#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/place.h"
#include "kernels/device/cuda/status.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cudnn {
namespace {

void check_cudnn(cudnnStatus_t status, const char* call, cuda::Place place = cuda::Place::current()) {
  if (status != CUDNN_STATUS_SUCCESS) {
    cuda::library_failed(fmt::format("{} failed: {} ({}) at {}", call, static_cast<int>(status),
                                     cudnnGetErrorString(status), cuda::text_of(place)),
                         status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
                             status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  }
}

}  // namespace

cudnnContext* handle_of(int ordinal) {
  static std::map<int, cudnnHandle_t> handles;  // for one thread: the one that has the device
  cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
  const auto known = handles.find(ordinal);
  if (known != handles.end()) {
    return known->second;
  }
  cudnnHandle_t handle = nullptr;
  check_cudnn(cudnnCreate(&handle), "cudnnCreate");
  return handles.emplace(ordinal, handle).first->second;
}

cudnnContext* handle_on(int ordinal, CUstream_st* stream) {
  cudnnHandle_t handle = handle_of(ordinal);
  check_cudnn(cudnnSetStream(handle, stream), "cudnnSetStream");
  return handle;
}

}  // namespace bench::kernels::cudnn
