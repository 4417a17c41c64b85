// Multiply-adds on every element as often as asked for: work from almost none to plenty for each byte moved.
//
//   x ← src; then `steps` times x ← kFactor · x + kSummand; dst ← x
//
// Every element is its own chain; enough of them are under way at once to hide a multiply-add's latency.
// Slots: src → dst, rows × count each.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Fma {
  static constexpr std::string_view kName = "fma";
  // Close to 1, so that src still shows after many steps; both exact in every dtype.
  static constexpr float kFactor = 0.9921875F;
  static constexpr float kSummand = 0.0078125F;

  std::int64_t rows = 1;
  std::int64_t count = 1;  // elements of a row
  std::int64_t steps = 1;
  Dtype dtype = Dtype::fp32;

  TensorDesc tensor() const { return {rows, count, 1, 1, Layout::nhwc, dtype}; }
  double flops() const { return 2.0 * static_cast<double>(rows * count) * static_cast<double>(steps); }
  bool operator==(const Fma&) const = default;
};

}  // namespace bench::kernels
