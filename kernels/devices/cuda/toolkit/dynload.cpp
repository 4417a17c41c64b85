#include "kernels/devices/cuda/toolkit/dynload.h"

#include <cuda_runtime_api.h>

#include <map>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/shared_library.h"

namespace bench::kernels::cuda::dynload {
namespace {

// With the major version that the program was built with.
std::string of_toolkit(const char* library) {
  return fmt::format("{}.so.{}", library, CUDART_VERSION / 1000);
}
const std::string kNvrtc = of_toolkit("libnvrtc");

// The three libraries named here, each opened once. The process owns them and never closes them: their
// threads and the handles of a device closed at exit may still use them.
const SharedLibrary& opened(const std::string& name) {
  static auto* const all = new std::map<std::string, SharedLibrary>;
  return all->try_emplace(name, name).first->second;
}

}  // namespace

const std::string Cudnn::kLibrary = fmt::format("libcudnn.so.{}", CUDNN_MAJOR);
const std::string Cublaslt::kLibrary = of_toolkit("libcublasLt");

void* address_of(const std::string& name, const char* function) {
  const SharedLibrary& library = opened(name);
  if (!library) {
    throw Unsupported(library.why_missing());
  }
  void* const address = library.find<void>(function);
  if (address == nullptr) {
    throw Unsupported(fmt::format("{} has no function {}", name, function));
  }
  return address;
}

const Cudnn& cudnn() {
  // cuDNN opens and closes these two for each graph: held open here, they are not loaded again each time.
  opened(Cublaslt::kLibrary);
  opened(kNvrtc);
  static const auto* const functions = new Cudnn;
  return *functions;
}

const Cublaslt& cublaslt() {
  static const auto* const functions = new Cublaslt;
  return *functions;
}

std::string why_missing() {
  try {
    cudnn();
    cublaslt();
  } catch (const Unsupported& missing) {
    return missing.what();
  }
  return opened(kNvrtc).why_missing();
}

Places places() {
  Places found{.cudnn = path_of_library(Cudnn::kLibrary),
               .cublaslt = path_of_library(Cublaslt::kLibrary),
               .nvrtc = path_of_library(kNvrtc)};
  if (auto* const version = opened(Cudnn::kLibrary).find<decltype(cudnnGetVersion)>("cudnnGetVersion")) {
    found.cudnn_version = version();
  }
  return found;
}

}  // namespace bench::kernels::cuda::dynload
