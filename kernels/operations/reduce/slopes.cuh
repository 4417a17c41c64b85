// The derivatives of reduce.h on fp32 values, for loops and kernel bodies; of a mean, that of the sum.
#pragma once

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/reduce/reduce.h"

namespace bench::kernels {

template <ReduceFunction kFunction>
BENCH_DEVICE float slope_of(float src, float dst) {
  using F = ReduceFunction;
  if constexpr (kFunction == F::product) {
    return dst * cuda::inverse(src);
  } else if constexpr (kFunction == F::sum_of_squares) {
    return 2.0F * src;
  } else if constexpr (kFunction == F::l2) {
    const float share = src * cuda::inverse(dst);  // chosen afterwards, without a branch
    return dst > 0.0F ? share : 0.0F;
  } else {
    return 1.0F;
  }
}

}  // namespace bench::kernels
