#include <cudnn_graph.h>

#include <fmt/format.h>

#include "kernels/device/cuda/libraries.h"

namespace bench::kernels::cuda {

std::string cudnn_version() {
  const std::size_t version = cudnnGetVersion();  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

}  // namespace bench::kernels::cuda
