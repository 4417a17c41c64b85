// A matrix product as our operations see it, in row-major matrices, and as cuBLASLt sees it, in column-major
// ones. No header of cuBLASLt is needed.
//
//   d[i][j] = act( scale · Σ_k a[i][k] · b[k][j] + bias[j] ), for each of `batch` products
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/dtype.h"
#include "kernels/operations/activation.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/matmul/matmul.h"

namespace bench::kernels::cublaslt {

// A row-major matrix in memory. `transposed`: what is stored is its transpose.
struct Stored {
  bool transposed = false;
  std::int64_t step = 0;                            // elements from one stored row to the next
  std::int64_t batch_step = 0;                      // from one product's matrix to the next one's
  auto operator<=>(const Stored&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Also the key under which algorithms are kept.
struct Product {
  Dtype dtype = Dtype::fp32;   // of a, b and bias
  Dtype result = Dtype::fp32;  // of d: dtype, or fp32
  std::int64_t rows = 1, inner = 1, columns = 1;
  Stored a, b, d;  // d is never transposed
  std::int64_t batch = 1;
  std::int64_t alignment = 16;  // bytes that all addresses are multiples of
  float scale = 1.0F;
  bool bias = false;
  Activation activation = Activation::none;          // none, relu or gelu: what cuBLASLt fuses
  auto operator<=>(const Product&) const = default;  // NOLINT(modernize-use-nullptr)
};

// d[rows][columns] = a · b of dense matrices.
Product dense(Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns, bool a_transposed,
              bool b_transposed);

Product product_of(const Linear& spec);
// Without what cuBLASLt does not fuse: see left_behind().
Product product_of(const Matmul& spec);
// The activation that a kernel of our own applies behind the product; none where cuBLASLt fuses it.
Activation left_behind(Activation activation);

// cuBLASLt's column-major view. A row-major matrix is the column-major form of its transpose, so the product
// is computed transposed, dᵀ = bᵀ · aᵀ: its first operand is b, its rows are our columns. A bias for each of
// our columns is then one for each of its rows, which is the one it fuses.
struct ColumnMajor {
  struct Matrix {
    std::int64_t rows = 0, columns = 0, step = 0, batch_step = 0;
    bool transposed = false;
    bool operator==(const Matrix&) const = default;
  };
  Matrix first, second, result;  // of b, of a, of d
};
ColumnMajor column_major(const Product& product);

// "fp16 16x2048 by 2048x1000 +bias"
std::string described(const Product& product);
// The same with every other field: two products have the same text only where they are equal.
std::string described_in_full(const Product& product);

}  // namespace bench::kernels::cublaslt
