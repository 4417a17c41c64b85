#include "kernels/conv_transpose/conv_transpose.h"

#include <fmt/format.h>

namespace bench::kernels {

std::optional<std::string> ConvTranspose::invalid() const {
  constexpr std::int64_t kLargest = 1 << 20;
  for (const std::int64_t size : {src.n, src.c, src.h, src.w, out_channels, kernel, stride}) {
    if (size < 1 || size > kLargest) {
      return fmt::format("conv_transpose: a size is {}, but must be between 1 and {}", size, kLargest);
    }
  }
  if (direction == Direction::backward_data && bias) {
    return std::string("conv_transpose: the gradient of src does not depend on a bias");
  }
  return std::nullopt;
}

}  // namespace bench::kernels
