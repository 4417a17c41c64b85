// Batch normalisation over (n, h, w) for each channel, and its gradient in training:
//   forward:  dst = act( scale · (src − mean) / √(variance + epsilon) + shift )
//   backward: through the batch's own mean and variance, with x̂ = (src − mean) / √(variance + epsilon) and
//   sums
//             over the N = n·h·w values of a channel:
//     diff_shift = Σ diff_dst          diff_scale = Σ diff_dst · x̂
//     diff_src = scale / √(variance + epsilon) · (diff_dst − diff_shift / N − x̂ · diff_scale / N)
//   where with an activation diff_dst is first multiplied by act' at scale · x̂ + shift, which is computed
//   again.
// (Ioffe and Szegedy 2015, arXiv:1502.03167.) Inference takes mean and variance as given; training computes
// them from src (biased variance) and writes them.
//
// Slots. inference: src, scale, shift, mean, variance (parameters) → dst.
//        training:  src, scale, shift → mean, variance, dst.
//        backward:  src, mean, variance (as training wrote them), scale, diff_dst, with an activation shift
//                   → diff_src (may be diff_dst itself), diff_scale, diff_shift.
// scale, shift, mean, variance and their gradients are fp32[channels] whatever the dtype.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  TensorDesc tensor;  // of src, dst and their gradients
  bool training = false;
  Activation activation = Activation::none;  // a rectifier
  float epsilon = 1e-5F;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  // Forward a multiplication and an addition an element; training's statistics take an addition for the mean,
  // and a difference, a square and an addition for the variance. Backward three operations an element for x̂,
  // three for the two sums, four for diff_src; with an activation its argument, slope and product in both.
  double flops() const {
    const int slope = activation == Activation::none ? 0 : 2 * (3 + comparisons(activation));
    const int each = !forward() ? 10 + slope : (training ? 6 : 2) + comparisons(activation);
    return static_cast<double>(tensor.elements()) * each;
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    return !is_rectifier(activation) ? std::optional<std::string>("batch norm fuses rectifiers only")
                                     : std::nullopt;
  }

  bool operator==(const BatchNorm&) const = default;
};

PlainSlots plain_slots(const BatchNorm& spec);

}  // namespace bench::kernels
