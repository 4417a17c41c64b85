// What stands behind a product or a convolution that its library did not fuse, and the gradient of a bias, on
// a CUDA device. The result is a row-major matrix of rows × columns, where a row holds the channels of a
// pixel or the features of a sample. Sums and functions are computed in fp32 whatever the dtype. Needs no
// CUDA header.
#pragma once

#include <cstdint>

#include "bench/dtype.h"
#include "kernels/activation.h"

struct CUstream_st;

namespace bench::kernels::cuda {

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Dtype dtype = Dtype::fp32;

  std::int64_t bytes() const { return rows * columns * bytes_of(dtype); }
};

// dst = act(dst + bias + residual), in place; residual may be null, and bias. Throws runtime_error.
struct Finish {
  Matrix dst;
  Activation activation = Activation::none;
  bool wide_bias = false;  // the bias is fp32[columns] though dst is narrower; otherwise of dst's dtype
};
void finish(CUstream_st* stream, const Finish& what, void* dst, const void* bias, const void* residual);

// sums[column] = Σ_row matrix[row][column], as fp32[columns]. The order of the additions is fixed: the same
// input gives the same sums. `partial` is scratch of column_sums_scratch() bytes.
std::int64_t column_sums_scratch(const Matrix& matrix);
void column_sums(CUstream_st* stream, const Matrix& matrix, const void* values, float* sums, void* partial);

// `count` fp32 values as fp16 or bf16, rounded to nearest even.
void narrow(CUstream_st* stream, const float* from, void* to, std::int64_t count, Dtype dtype);

}  // namespace bench::kernels::cuda
