// dst = act(src + src1), element by element. Slots: src, src1 → dst; dst may be either of them.
#pragma once

#include <string_view>

#include "kernels/activation.h"
#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Add {
  static constexpr std::string_view kName = "add";
  TensorDesc tensor;
  Activation activation = Activation::none;

  // One addition an element, and one comparison a bound of the activation.
  double flops() const { return static_cast<double>(tensor.elements()) * (1 + comparisons(activation)); }

  bool operator==(const Add&) const = default;
};

}  // namespace bench::kernels
