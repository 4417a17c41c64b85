// cuDNN, cuBLASLt and nvrtc, opened when they are first needed. Linked, they would be opened, bound and
// relocated (half a gigabyte of them) whenever the program starts, on machines without a card as well.
#pragma once

#include <cublasLt.h>
#include <cudnn_graph.h>

#include <string>

#include "kernels/devices/cuda/cudnn_version.h"

namespace bench::kernels::cuda::dynload {

// The address of a library's function. Throws Unsupported with the loader's words where there is none.
void* address_of(const std::string& name, const char* function);

// NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes no parentheses
#define BENCH_FUNCTION(name) \
  decltype(&::name) name = reinterpret_cast<decltype(&::name)>(address_of(kLibrary, #name))
// NOLINTEND(bugprone-macro-parentheses)

struct Cudnn {
  static const std::string kLibrary;
  BENCH_FUNCTION(cudnnCreate);
  BENCH_FUNCTION(cudnnDestroy);
  BENCH_FUNCTION(cudnnSetStream);
  BENCH_FUNCTION(cudnnGetVersion);
  BENCH_FUNCTION(cudnnGetMaxDeviceVersion);
  BENCH_FUNCTION(cudnnGetErrorString);
  BENCH_FUNCTION(cudnnGetLastErrorString);
  BENCH_FUNCTION(cudnnBackendCreateDescriptor);
  BENCH_FUNCTION(cudnnBackendDestroyDescriptor);
  BENCH_FUNCTION(cudnnBackendSetAttribute);
  BENCH_FUNCTION(cudnnBackendGetAttribute);
  BENCH_FUNCTION(cudnnBackendFinalize);
  BENCH_FUNCTION(cudnnBackendExecute);
};

struct Cublaslt {
  static const std::string kLibrary;
  BENCH_FUNCTION(cublasLtCreate);
  BENCH_FUNCTION(cublasLtDestroy);
  BENCH_FUNCTION(cublasLtGetVersion);
  BENCH_FUNCTION(cublasLtGetStatusName);
  BENCH_FUNCTION(cublasLtGetStatusString);
  BENCH_FUNCTION(cublasLtMatmul);
  BENCH_FUNCTION(cublasLtMatmulAlgoConfigGetAttribute);
  BENCH_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  BENCH_FUNCTION(cublasLtMatmulDescCreate);
  BENCH_FUNCTION(cublasLtMatmulDescDestroy);
  BENCH_FUNCTION(cublasLtMatmulDescSetAttribute);
  BENCH_FUNCTION(cublasLtMatmulPreferenceCreate);
  BENCH_FUNCTION(cublasLtMatmulPreferenceDestroy);
  BENCH_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
  BENCH_FUNCTION(cublasLtMatrixLayoutCreate);
  BENCH_FUNCTION(cublasLtMatrixLayoutDestroy);
  BENCH_FUNCTION(cublasLtMatrixLayoutSetAttribute);
};

#undef BENCH_FUNCTION

// Opened by the first call that succeeds, until the process ends: handles made by a library may live as long.
// Throw Unsupported, also where cuDNN is another one than the program works with.
const Cudnn& cudnn();
const Cublaslt& cublaslt();

// Why the CUDA device cannot be used: the first library that does not open, in the loader's words, or does
// not fit; empty where all do. Opens them.
std::string why_missing();

// For `bench --version`: cuDNN's version, and the places of the three libraries, empty where one is not
// found. Opens cuDNN alone.
struct Places {
  std::string cudnn;
  std::string cublaslt;
  std::string nvrtc;
  CudnnVersion cudnn_version;
  std::string why_no_cudnn;  // why the one that was found cannot be used
};
Places places();

}  // namespace bench::kernels::cuda::dynload
