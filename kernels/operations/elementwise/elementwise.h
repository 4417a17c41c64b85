// One element of the result from the same element of each input, in one pass over the memory:
//   forward:  dst = act(src [+ src1])
//   backward: diff_src = act' · (diff_dst [+ src1])
// `summands` is 2 with src1: another input, or the other part of a gradient that comes in two. act' is taken
// from the forward pass's result, or from what it read where the result does not tell: see
// slope_reads_result().
//
// Slots. forward:  src, src1 → dst (may be src or src1)
//        backward: dst as the forward pass wrote it (or src as it read it), diff_dst, src1
//                  → diff_src (may be diff_dst)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Elementwise {
  static constexpr std::string_view kName = "elementwise";
  TensorDesc tensor;  // of every slot
  Activation activation = Activation::none;
  int summands = 1;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  // The tensor that the backward pass computes the slope from.
  Slot slope_from() const { return slope_reads_result(activation) ? Slot::dst : Slot::src; }
  // An addition a further summand, and the function's operations; as many again for a slope that is not made
  // from the result.
  double flops() const {
    const int slope = !forward() && !slope_reads_result(activation) ? comparisons(activation) : 0;
    return static_cast<double>(tensor.elements()) * (summands - 1 + comparisons(activation) + slope);
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    if (summands < 1 || summands > 2) {
      return "elementwise: one or two summands are accepted";
    }
    if (activation == Activation::none && (!forward() || summands == 1)) {
      return "elementwise: an activation is needed; only a forward sum may have none";
    }
    return std::nullopt;
  }

  bool operator==(const Elementwise&) const = default;
};

PlainSlots plain_slots(const Elementwise& spec);

}  // namespace bench::kernels
