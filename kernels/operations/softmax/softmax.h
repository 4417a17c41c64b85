// dst[n,c] = exp(src[n,c] − max_c src[n,c]) / Σ_c exp(…), over the channels of each row. h = w = 1.
// Slots: src → dst.
#pragma once

#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  TensorDesc tensor;

  // Five passes: maximum, difference, exponential (counted as one), sum, quotient.
  double flops() const { return 5.0 * static_cast<double>(tensor.elements()); }

  bool operator==(const Softmax&) const = default;
};

PlainSlots plain_slots(const Softmax& spec);

}  // namespace bench::kernels
