#include "kernels/device/cuda/deferred/deferred.h"

namespace bench::kernels::cuda::deferred {

std::string why_missing() {
  for (const SharedLibrary* library : {&cudnn(), &cublaslt(), &nvrtc()}) {
    if (!*library) {
      return library->why_missing();
    }
  }
  return {};
}

}  // namespace bench::kernels::cuda::deferred
