#include "kernels/device/cuda/library.h"

#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/device/cuda/status.h"

namespace bench::kernels::cuda {

void raise_library(const std::string& what, bool out_of_memory, int device_error) {
  if (is_sticky(device_error)) {
    throw DeviceLost(fmt::format("{}; the device answers with error {} from now on", what, device_error));
  }
  if (out_of_memory) {
    throw OutOfMemory(what, 0);
  }
  throw std::runtime_error(what);
}

}  // namespace bench::kernels::cuda
