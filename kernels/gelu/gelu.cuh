// GELU and its gradient as element-wise kernels' functions; the formulas are kernels/cuda/rectifier.cuh's.
#pragma once

#include "kernels/cuda/rectifier.cuh"

namespace bench::kernels::cuda {

struct GeluFunction {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return TanhGelu{}(x[0]); }
};

// Of the forward pass's input and the gradient.
struct GeluGradient {
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[1] * TanhGelu::slope(x[0]); }
};

}  // namespace bench::kernels::cuda
