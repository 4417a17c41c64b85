// Matrix product: dst[m,n] = act( Σ_k src[m,k] · w[n,k] + bias[n] ), a linear layer with rows = batch.
//
// Slots: src (n = rows, c = inner), weights (plain [columns][inner]), bias (if bias)
//        → dst (n = rows, c = columns).
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Matmul {
  static constexpr std::string_view kName = "matmul";
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
  bool bias = false;
  Activation activation = Activation::none;
  Dtype dtype = Dtype::fp32;

  // Both plain row-major matrices.
  TensorDesc src() const { return {rows, inner, 1, 1, Layout::nhwc, dtype}; }
  TensorDesc dst() const { return {rows, columns, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t macs() const { return rows * inner * columns; }
  double flops() const { return 2.0 * static_cast<double>(macs()); }

  bool operator==(const Matmul&) const = default;
};

}  // namespace bench::kernels
