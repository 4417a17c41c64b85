#include "kernels/cublaslt/cublaslt_objects.h"

#include <cuda_runtime_api.h>

#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/status.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cublaslt {
namespace {

cudaDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::fp32:
    case Dtype::tf32:
      return CUDA_R_32F;
  }
  return CUDA_R_32F;
}

}  // namespace

void check(cublasStatus_t status, const char* call, const std::string& what, cuda::Place place) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    cuda::library_failed(fmt::format("{}{}{} failed: {} ({}: {}) at {}", what, what.empty() ? "" : ": ", call,
                                     static_cast<int>(status), cublasLtGetStatusName(status),
                                     cublasLtGetStatusString(status), cuda::text_of(place)),
                         status == CUBLAS_STATUS_ALLOC_FAILED);
  }
}

cublasLtHandle_t handle_of(int ordinal) {
  static std::map<int, cublasLtHandle_t> handles;  // for one thread: the one that has the device
  cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
  const auto known = handles.find(ordinal);
  if (known != handles.end()) {
    return known->second;
  }
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle), "cublasLtCreate");
  return handles.emplace(ordinal, handle).first->second;
}

OperationDescriptor::OperationDescriptor(const Product& product) {
  const auto compute = product.dtype == Dtype::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check(cublasLtMatmulDescCreate(&handle_, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
}

Layout::Layout(const ColumnMajor::Matrix& matrix, Dtype dtype, std::int64_t batch) {
  check(cublasLtMatrixLayoutCreate(&handle_, type_of(dtype), static_cast<std::uint64_t>(matrix.rows),
                                   static_cast<std::uint64_t>(matrix.columns), matrix.step),
        "cublasLtMatrixLayoutCreate");
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    check(cublasLtMatrixLayoutSetAttribute(handle_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
          "cublasLtMatrixLayoutSetAttribute");
    check(cublasLtMatrixLayoutSetAttribute(handle_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &matrix.batch_step, sizeof matrix.batch_step),
          "cublasLtMatrixLayoutSetAttribute");
  }
}

Preference::Preference() {
  check(cublasLtMatmulPreferenceCreate(&handle_), "cublasLtMatmulPreferenceCreate");
}

}  // namespace bench::kernels::cublaslt
