#include "kernels/cuda/kernel_operation.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/cuda/divider.cuh"

namespace bench::kernels::cuda {

unsigned grid_of(std::int64_t blocks, const char* kernel) {
  if (blocks < 1 || blocks > std::numeric_limits<std::int32_t>::max()) {
    throw std::length_error(fmt::format("{}: {} blocks do not fit a grid", kernel, blocks));
  }
  return static_cast<unsigned>(blocks);
}

std::optional<std::string> not_nhwc(const TensorDesc& tensor) {
  if (tensor.layout != Layout::nhwc) {
    return fmt::format("the CUDA kernels read nhwc, not {}", name_of(tensor.layout));
  }
  if (tensor.elements() > kMostUnits) {
    return fmt::format("the CUDA kernels count to {}, the tensor has {} elements", kMostUnits,
                       tensor.elements());
  }
  return std::nullopt;
}

}  // namespace bench::kernels::cuda
