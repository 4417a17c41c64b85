// Bias, residual and activation after a product or a convolution whose library did not fuse them, and the
// gradient of a bias, on a CUDA device. The result is a row-major matrix of rows × columns, where a row holds
// the channels of a pixel or the features of a sample. Sums and functions are computed in fp32 whatever the
// dtype. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/dtype.h"
#include "bench/registry.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/activation.h"

namespace bench::kernels::cuda {

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Dtype dtype = Dtype::fp32;

  std::int64_t bytes() const { return rows * columns * bytes_of(dtype); }
};

struct Epilogue {
  Matrix dst;
  Activation activation = Activation::none;
  bool wide_bias = false;  // the bias is fp32[columns] though dst is narrower; otherwise of dst's dtype
};

// The functions below, registered as "cuda" in a program that has kernels of its own (bias.cu).
struct BiasKernels {
  std::string name;
  void (*epilogue)(const Card& card, const Epilogue& what, void* dst, const void* bias, const void* residual);
  std::int64_t (*column_sums_scratch)(const Matrix& matrix);
  void (*column_sums)(const Card& card, const Matrix& matrix, const void* values, float* sums, void* partial);
  void (*narrow)(const Card& card, const float* from, void* to, std::int64_t count, Dtype dtype);
};
inline const BiasKernels& bias_kernels() {
  const BiasKernels* const kernels = registry<BiasKernels>().find("cuda");
  if (kernels == nullptr) {
    throw std::logic_error("this program was built without CUDA kernels");
  }
  return *kernels;
}

// dst = act(dst + bias + residual), in place; residual may be null, and bias. Throws runtime_error.
inline void epilogue(const Card& card, const Epilogue& what, void* dst, const void* bias,
                     const void* residual) {
  bias_kernels().epilogue(card, what, dst, bias, residual);
}

// sums[column] = Σ_row matrix[row][column], as fp32[columns]. The order of the additions is fixed: the same
// input gives the same sums. `partial` is scratch of column_sums_scratch() bytes.
inline std::int64_t column_sums_scratch(const Matrix& matrix) {
  return bias_kernels().column_sums_scratch(matrix);
}
inline void column_sums(const Card& card, const Matrix& matrix, const void* values, float* sums,
                        void* partial) {
  bias_kernels().column_sums(card, matrix, values, sums, partial);
}

// `count` fp32 values as fp16 or bf16, rounded to nearest even.
inline void narrow(const Card& card, const float* from, void* to, std::int64_t count, Dtype dtype) {
  bias_kernels().narrow(card, from, to, count, dtype);
}

}  // namespace bench::kernels::cuda
