#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <fmt/format.h>

#include "kernels/device/cuda/deferred/deferred.h"

namespace bench::kernels::cuda::deferred {

const SharedLibrary& nvrtc() {
  static const auto* const library = new SharedLibrary(fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000));
  return *library;
}

}  // namespace bench::kernels::cuda::deferred

using namespace bench::kernels::cuda::deferred;

nvrtcResult nvrtcCreateProgram(nvrtcProgram* prog, const char* src, const char* name, int numHeaders,
                               const char* const* headers, const char* const* includeNames) {
  static auto* const call = found(nvrtc(), &nvrtcCreateProgram, "nvrtcCreateProgram");
  return call != nullptr ? call(prog, src, name, numHeaders, headers, includeNames)
                         : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* prog) {
  static auto* const call = found(nvrtc(), &nvrtcDestroyProgram, "nvrtcDestroyProgram");
  return call != nullptr ? call(prog) : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char* const* options) {
  static auto* const call = found(nvrtc(), &nvrtcCompileProgram, "nvrtcCompileProgram");
  return call != nullptr ? call(prog, numOptions, options) : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char* cubin) {
  static auto* const call = found(nvrtc(), &nvrtcGetCUBIN, "nvrtcGetCUBIN");
  return call != nullptr ? call(prog, cubin) : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t* cubinSizeRet) {
  static auto* const call = found(nvrtc(), &nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
  return call != nullptr ? call(prog, cubinSizeRet) : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char* log) {
  static auto* const call = found(nvrtc(), &nvrtcGetProgramLog, "nvrtcGetProgramLog");
  return call != nullptr ? call(prog, log) : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t* logSizeRet) {
  static auto* const call = found(nvrtc(), &nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
  return call != nullptr ? call(prog, logSizeRet) : NVRTC_ERROR_INTERNAL_ERROR;
}
