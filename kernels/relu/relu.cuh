// ReLU's gradient as an element-wise kernel's function; ReLU itself is kernels/cuda/rectifier.cuh.
#pragma once

#include "kernels/cuda/rectifier.cuh"

namespace bench::kernels::cuda {

struct RectifyFunction {
  Rectifier rectifier;
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return rectifier(x[0]); }
};

// Of the forward pass's result and the gradient.
struct RectifyGradient {
  Rectifier rectifier;
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[1] * rectifier.slope(x[0]); }
};

}  // namespace bench::kernels::cuda
