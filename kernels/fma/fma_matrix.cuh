// The constant matrix M that fma multiplies tiles by: odd multiples of 1/512 below 1/32, exact in every
// dtype, none of them zero, and so small that 65536 steps end below fp16's largest number. It is not
// symmetric: a product with its transpose is another one.
#pragma once

#include "kernels/cuda/words.cuh"

namespace bench::kernels::cuda {

BENCH_DEVICE float fma_matrix(int row, int column) {
  return static_cast<float>(2 * ((7 * row + 3 * column) % 16) - 15) / 512;
}

}  // namespace bench::kernels::cuda
