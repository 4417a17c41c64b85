// Average pooling to a given output size: output i averages the inputs from ⌊i·in/out⌋ up to, not including,
// ⌈(i+1)·in/out⌉, in height and in width. Windows may overlap and differ in size; an input smaller than the
// output is repeated. As torch.nn.AdaptiveAvgPool2d. Slots: src → dst.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct AdaptivePool {
  static constexpr std::string_view kName = "adaptive_pool";
  TensorDesc src;
  std::int64_t height = 1, width = 1;  // of dst

  TensorDesc dst() const { return {src.n, src.c, height, width, src.layout, src.dtype}; }

  bool operator==(const AdaptivePool&) const = default;
};

}  // namespace bench::kernels
