// Softmax over the channels of each pixel, its logarithm, and their gradients:
//   dst[n,c,h,w] = exp(src[n,c,h,w] − max_c src[n,c,h,w]) / Σ_c exp(…)
//   log:           src[n,c,h,w] − max_c src[n,c,h,w] − log Σ_c exp(…)
//   backward: diff_src = dst · (diff_dst − Σ_c diff_dst · dst)        log: diff_dst − exp(dst) · Σ_c diff_dst
// A matrix has h = w = 1. Over any other dimension of a value that is the c of a tensor in nchw: n is what
// lies before it, h what lies after. Slots. forward: src → dst.   backward: dst, diff_dst → diff_src (may be
// diff_dst).
#pragma once

#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  TensorDesc tensor;  // of every slot
  bool log = false;
  bool training = false;  // a backward pass follows
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  // Five passes: maximum, difference, exponential (counted as one), sum, quotient; backward four.
  double flops() const { return (forward() ? 5.0 : 4.0) * static_cast<double>(tensor.elements()); }

  bool operator==(const Softmax&) const = default;
};

PlainSlots plain_slots(const Softmax& spec);

}  // namespace bench::kernels
