#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "kernels/device/cuda/deferred/deferred.h"

namespace bench::kernels::cuda::deferred {

const SharedLibrary& cublaslt() {
  static const auto* const library =
      new SharedLibrary(fmt::format("libcublasLt.so.{}", CUDART_VERSION / 1000));
  return *library;
}

}  // namespace bench::kernels::cuda::deferred

using namespace bench::kernels::cuda::deferred;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
  static auto* const call = found(cublaslt(), &cublasLtCreate, "cublasLtCreate");
  return call != nullptr ? call(lightHandle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
  static auto* const call = found(cublaslt(), &cublasLtDestroy, "cublasLtDestroy");
  return call != nullptr ? call(lightHandle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  static auto* const call = found(cublaslt(), &cublasLtGetStatusName, "cublasLtGetStatusName");
  return call != nullptr ? call(status) : "CUBLAS_STATUS_NOT_INITIALIZED";
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  static auto* const call = found(cublaslt(), &cublasLtGetStatusString, "cublasLtGetStatusString");
  return call != nullptr ? call(status) : cublaslt().why_missing().c_str();
}

size_t cublasLtGetVersion() {
  static auto* const call = found(cublaslt(), &cublasLtGetVersion, "cublasLtGetVersion");
  return call != nullptr ? call() : 0;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc, const void* B,
                              cublasLtMatrixLayout_t Bdesc, const void* beta, const void* C,
                              cublasLtMatrixLayout_t Cdesc, void* D, cublasLtMatrixLayout_t Ddesc,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t workspaceSizeInBytes,
                              cudaStream_t stream) {
  static auto* const call = found(cublaslt(), &cublasLtMatmul, "cublasLtMatmul");
  return call != nullptr ? call(lightHandle, computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc,
                                algo, workspace, workspaceSizeInBytes, stream)
                         : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attr, void* buf,
                                                    size_t sizeInBytes, size_t* sizeWritten) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulAlgoConfigGetAttribute, "cublasLtMatmulAlgoConfigGetAttribute");
  return call != nullptr ? call(algo, attr, buf, sizeInBytes, sizeWritten) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle,
                                              cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t* heuristicResultsArray,
                                              int* returnAlgoCount) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  return call != nullptr ? call(lightHandle, operationDesc, Adesc, Bdesc, Cdesc, Ddesc, preference,
                                requestedAlgoCount, heuristicResultsArray, returnAlgoCount)
                         : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType) {
  static auto* const call = found(cublaslt(), &cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate");
  return call != nullptr ? call(matmulDesc, computeType, scaleType) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) {
  static auto* const call = found(cublaslt(), &cublasLtMatmulDescDestroy, "cublasLtMatmulDescDestroy");
  return call != nullptr ? call(matmulDesc) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc,
                                              cublasLtMatmulDescAttributes_t attr, const void* buf,
                                              size_t sizeInBytes) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
  return call != nullptr ? call(matmulDesc, attr, buf, sizeInBytes) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate");
  return call != nullptr ? call(pref) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  return call != nullptr ? call(pref) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attr,
                                                    const void* buf, size_t sizeInBytes) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute");
  return call != nullptr ? call(pref, attr, buf, sizeInBytes) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  static auto* const call = found(cublaslt(), &cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate");
  return call != nullptr ? call(matLayout, type, rows, cols, ld) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) {
  static auto* const call = found(cublaslt(), &cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy");
  return call != nullptr ? call(matLayout) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout,
                                                cublasLtMatrixLayoutAttribute_t attr, const void* buf,
                                                size_t sizeInBytes) {
  static auto* const call =
      found(cublaslt(), &cublasLtMatrixLayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute");
  return call != nullptr ? call(matLayout, attr, buf, sizeInBytes) : CUBLAS_STATUS_NOT_INITIALIZED;
}
