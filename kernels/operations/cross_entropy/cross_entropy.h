// Softmax cross-entropy and its gradient in one operation. With p = softmax of a row of src:
//   loss = scale · Σ_rows −log p[label]        diff_src = scale · (p − onehot(label))
// scale 1/rows makes it the mean over the batch. Where it is `scaled`, diff_src is multiplied by the loss
// scale's factor too. Sums are made in fp32 at least, from the row's values less their maximum, so that no
// finite input overflows.
//
// Slots: src (logits, n = rows, c = classes), labels, loss_scale (scaled) → loss (fp32[1]), diff_src (may be
// src itself). A label outside [0, classes) is the caller's mistake: its row takes no part.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy";
  std::int64_t rows = 1;
  std::int64_t classes = 1;
  float scale = 1;
  Dtype dtype = Dtype::fp32;  // of src and diff_src
  bool scaled = false;

  TensorDesc tensor() const { return {rows, classes, 1, 1, Layout::nhwc, dtype}; }
  // Maximum, difference, exponential, sum, quotient and gradient of an element.
  double flops() const { return 6.0 * static_cast<double>(rows * classes); }

  bool operator==(const CrossEntropy&) const = default;
};

PlainSlots plain_slots(const CrossEntropy& spec);

}  // namespace bench::kernels
