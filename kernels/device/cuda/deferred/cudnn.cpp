#include <cudnn_graph.h>

#include <fmt/format.h>

#include "kernels/device/cuda/deferred/deferred.h"

namespace bench::kernels::cuda::deferred {

const SharedLibrary& cudnn() {
  // cuDNN opens and closes these two for each graph: where nobody holds them open, they are loaded anew each
  // time.
  cublaslt();
  nvrtc();
  static const auto* const library = new SharedLibrary(fmt::format("libcudnn.so.{}", CUDNN_MAJOR));
  return *library;
}

}  // namespace bench::kernels::cuda::deferred

using namespace bench::kernels::cuda::deferred;

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  static auto* const call = found(cudnn(), &cudnnCreate, "cudnnCreate");
  return call != nullptr ? call(handle) : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
  static auto* const call = found(cudnn(), &cudnnSetStream, "cudnnSetStream");
  return call != nullptr ? call(handle, streamId) : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* streamId) {
  static auto* const call = found(cudnn(), &cudnnGetStream, "cudnnGetStream");
  return call != nullptr ? call(handle, streamId) : CUDNN_STATUS_NOT_INITIALIZED;
}

size_t cudnnGetVersion() {
  static auto* const call = found(cudnn(), &cudnnGetVersion, "cudnnGetVersion");
  return call != nullptr ? call() : 0;
}

size_t cudnnGetMaxDeviceVersion() {
  static auto* const call = found(cudnn(), &cudnnGetMaxDeviceVersion, "cudnnGetMaxDeviceVersion");
  return call != nullptr ? call() : 0;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  static auto* const call = found(cudnn(), &cudnnGetErrorString, "cudnnGetErrorString");
  return call != nullptr ? call(status) : cudnn().why_missing().c_str();
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  static auto* const call = found(cudnn(), &cudnnGetLastErrorString, "cudnnGetLastErrorString");
  if (call != nullptr) {
    call(message, max_size);
    return;
  }
  fmt::format_to_n(message, max_size, "{}", cudnn().why_missing());
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                           cudnnBackendDescriptor_t* descriptor) {
  static auto* const call = found(cudnn(), &cudnnBackendCreateDescriptor, "cudnnBackendCreateDescriptor");
  return call != nullptr ? call(descriptorType, descriptor) : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  static auto* const call = found(cudnn(), &cudnnBackendDestroyDescriptor, "cudnnBackendDestroyDescriptor");
  return call != nullptr ? call(descriptor) : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType, int64_t elementCount,
                                       const void* arrayOfElements) {
  static auto* const call = found(cudnn(), &cudnnBackendSetAttribute, "cudnnBackendSetAttribute");
  return call != nullptr ? call(descriptor, attributeName, attributeType, elementCount, arrayOfElements)
                         : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType,
                                       int64_t requestedElementCount, int64_t* elementCount,
                                       void* arrayOfElements) {
  static auto* const call = found(cudnn(), &cudnnBackendGetAttribute, "cudnnBackendGetAttribute");
  return call != nullptr ? call(descriptor, attributeName, attributeType, requestedElementCount, elementCount,
                                arrayOfElements)
                         : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  static auto* const call = found(cudnn(), &cudnnBackendFinalize, "cudnnBackendFinalize");
  return call != nullptr ? call(descriptor) : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  static auto* const call = found(cudnn(), &cudnnBackendExecute, "cudnnBackendExecute");
  return call != nullptr ? call(handle, executionPlan, variantPack) : CUDNN_STATUS_NOT_INITIALIZED;
}
