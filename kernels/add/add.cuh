// Addition with an activation, as an element-wise kernel's function.
#pragma once

#include "kernels/cuda/rectifier.cuh"

namespace bench::kernels::cuda {

template <class Activate>
struct AddFunction {
  Activate activate;
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return activate(x[0] + x[1]); }
};

}  // namespace bench::kernels::cuda
