// Batch normalisation over (n, h, w) for each channel:
//   dst = act( scale · (src − mean) / √(variance + epsilon) + shift )
//
// Inference takes mean and variance as given; training computes them from src (biased variance) and writes
// them.
// Slots. inference: src, scale, shift, mean, variance (parameters) → dst.
//        training:  src, scale, shift → mean, variance, dst.
// scale, shift, mean and variance are fp32[channels] whatever the dtype.
#pragma once

#include <string_view>

#include "kernels/activation.h"
#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  TensorDesc tensor;  // of src and dst
  bool training = false;
  Activation activation = Activation::none;  // none or relu
  float epsilon = 1e-5F;

  // A multiplication and an addition an element; training's statistics take an addition for the mean, and a
  // difference, a square and an addition for the variance.
  double flops() const {
    return static_cast<double>(tensor.elements()) * ((training ? 6 : 2) + comparisons(activation));
  }

  bool operator==(const BatchNorm&) const = default;
};

}  // namespace bench::kernels
