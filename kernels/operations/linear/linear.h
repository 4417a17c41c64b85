// A product with a matrix of weights, and its gradients:
//   dst[m,n] = act( Σ_k src[m,k] · w[n,k] + bias[n] ), rows = batch, or every position of its sequences
//
// forward:          src, weights, bias (if bias) → dst
// backward_data:    diff_dst, weights → diff_src
// backward_weights: src, diff_dst → diff_weights, diff_bias (if bias)
//
// Plain weights are the matrix [columns][inner]. Where `packed` is set, each implementation stores them and
// the bias as it likes best, for inference. Otherwise weights and diff_weights are stored plain in the dtype,
// in all three directions, so that an optimizer may go through them element by element, and bias and
// diff_bias are fp32[columns].
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Linear {
  static constexpr std::string_view kName = "linear";
  using Direction = kernels::Direction;

  std::int64_t rows = 1;
  std::int64_t inner = 1;    // features of src
  std::int64_t columns = 1;  // features of dst
  Direction direction = Direction::forward;
  bool bias = false;
  bool packed = false;                       // forward only
  Activation activation = Activation::none;  // packed only
  Dtype dtype = Dtype::fp32;

  // Plain row-major matrices; diff_src and diff_dst are stored alike.
  TensorDesc src() const { return {rows, inner, 1, 1, Layout::nhwc, dtype}; }
  TensorDesc dst() const { return {rows, columns, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t weight_count() const { return columns * inner; }
  double flops() const { return 2.0 * static_cast<double>(rows * inner * columns); }

  bool operator==(const Linear&) const = default;
};

PlainSlots plain_slots(const Linear& spec);

}  // namespace bench::kernels
