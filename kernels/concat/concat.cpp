#include "kernels/concat/concat.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench::kernels {

TensorDesc Concat::dst() const {
  TensorDesc dst = inputs.front();
  dst.c = first_channel(inputs.size());
  for (const TensorDesc& input : inputs) {
    dst.h = std::max(dst.h, input.h);
    dst.w = std::max(dst.w, input.w);
  }
  return dst;
}

std::int64_t Concat::first_channel(std::size_t index) const {
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < index; ++i) {
    channels += inputs[i].c;
  }
  return channels;
}

std::optional<std::string> Concat::invalid() const {
  if (inputs.size() < 2 || inputs.size() > kSources.size()) {
    return fmt::format("concat: {} inputs, but 2 to {} are accepted", inputs.size(), kSources.size());
  }
  for (const TensorDesc& input : inputs) {
    if (input.n < 1 || input.c < 1 || input.h < 1 || input.w < 1) {
      return std::string("concat: sizes must be at least 1");
    }
    if (input.n != inputs[0].n || input.layout != inputs[0].layout || input.dtype != inputs[0].dtype) {
      return std::string("concat: the inputs differ in batch, layout or dtype");
    }
  }
  return std::nullopt;
}

}  // namespace bench::kernels
