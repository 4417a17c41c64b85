// A parameter as a value that other operations read; backward, the gradient of that value as the parameter's.
//
// Slots. forward:  weights → dst.
//        backward: diff_dst → diff_weights.
// weights and diff_weights have the dtype, and lie as dst does: in the order of the dimensions.
#pragma once

#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Parameter {
  static constexpr std::string_view kName = "parameter";
  std::int64_t count = 1;
  Dtype dtype = Dtype::fp32;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  static double flops() { return 0; }
  TensorDesc tensor() const { return {.n = 1, .c = count, .dtype = dtype}; }

  bool operator==(const Parameter&) const = default;
};

PlainSlots plain_slots(const Parameter& spec);

}  // namespace bench::kernels
