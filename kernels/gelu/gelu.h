// The Gaussian error linear unit in its tanh form and its gradient (Hendrycks and Gimpel 2016,
// arXiv:1606.08415), with u(x) = √(2/π) · (x + 0.044715 · x³):
//   forward:  dst = x/2 · (1 + tanh u)
//   backward: diff_src = diff_dst · ( (1 + tanh u)/2 + x/2 · (1 − tanh² u) · u'(x) )
//
// Slots. forward:  src → dst (may be src itself).
//        backward: src (as the forward pass read it), diff_dst → diff_src (may be diff_dst itself).
#pragma once

#include <string_view>

#include "kernels/activation.h"
#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Gelu {
  static constexpr std::string_view kName = "gelu";
  enum class Direction { forward, backward };
  TensorDesc tensor;
  Direction direction = Direction::forward;

  // Backward: u and tanh anew as forward, then nine for u' and the sums.
  double flops() const {
    const int each = comparisons(Activation::gelu) + (direction == Direction::forward ? 0 : 9);
    return static_cast<double>(tensor.elements()) * each;
  }

  bool operator==(const Gelu&) const = default;
};

}  // namespace bench::kernels
