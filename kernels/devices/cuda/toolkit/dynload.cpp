#include "kernels/devices/cuda/toolkit/dynload.h"

#include <cuda_runtime_api.h>

#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/shared_library.h"

namespace bench::kernels::cuda::dynload {
namespace {

// With the major version that the program was built with.
std::string of_toolkit(const char* library) {
  return fmt::format("{}.so.{}", library, CUDART_VERSION / 1000);
}
const std::string kNvrtc = of_toolkit("libnvrtc");

// The libraries named here, each opened once. The process owns them and never closes them: their
// threads and the handles of a device closed at exit may still use them.
const SharedLibrary& opened(const std::string& name) {
  static auto* const all = new std::map<std::string, SharedLibrary>;
  return all->try_emplace(name, name).first->second;
}

// Why a part of the cuDNN at `path` does not open; empty where none is known to. Opens the one of graphs.
std::string why_part_missing(const std::filesystem::path& path) {
  const std::string graph = fmt::format("libcudnn_graph.so.{}", CUDNN_MAJOR);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    if (entry.path().filename().string().starts_with("libcudnn_")) {
      if (std::string why = why_cut_short(entry.path()); !why.empty()) {
        return why;
      }
    }
  }
  const std::filesystem::path next_to_it = path.parent_path() / graph;
  return opened(std::filesystem::exists(next_to_it, error) ? next_to_it.string() : graph).why_missing();
}

struct FoundCudnn {
  CudnnVersion version;
  std::string why_not;  // why it cannot be used; empty where it can
};

// libcudnn.so opens the other parts at its first call, and aborts the process where the one of graphs is
// missing.
FoundCudnn find_cudnn() {
  const SharedLibrary& library = opened(Cudnn::kLibrary);
  FoundCudnn found{.version = {}, .why_not = library.why_missing()};
  if (!library) {
    return found;
  }
  const std::string path = library.path();
  auto* const version = library.find<decltype(cudnnGetVersion)>("cudnnGetVersion");
  auto* const cuda = library.find<decltype(cudnnGetCudartVersion)>("cudnnGetCudartVersion");
  if (version == nullptr || cuda == nullptr) {
    found.why_not = path + " is no cuDNN";
    return found;
  }
  found.why_not = why_part_missing(path);
  if (found.why_not.empty()) {
    found.version = {.number = version(), .cuda = cuda()};
    found.why_not = why_unfit(found.version, {.number = CUDNN_VERSION, .cuda = CUDART_VERSION}, path);
  }
  return found;
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
  static const auto* const functions = [] {
    if (const FoundCudnn found = find_cudnn(); !found.why_not.empty()) {
      throw Unsupported(found.why_not);
    }
    return new Cudnn;
  }();
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
               .nvrtc = path_of_library(kNvrtc),
               .cudnn_version = {},
               .why_no_cudnn = {}};
  if (!found.cudnn.empty()) {
    const FoundCudnn cudnn = find_cudnn();
    found.cudnn_version = cudnn.version;
    found.why_no_cudnn = cudnn.why_not;
  }
  return found;
}

}  // namespace bench::kernels::cuda::dynload
