#include "kernels/backends/cublaslt/product.h"

#include <fmt/format.h>

namespace bench::kernels::cublaslt {
namespace {

// Stored as stored_rows × stored_columns, row by row: to cuBLASLt stored_columns × stored_rows.
ColumnMajor::Matrix flipped(std::int64_t rows, std::int64_t columns, const Stored& stored) {
  const std::int64_t stored_rows = stored.transposed ? columns : rows;
  const std::int64_t stored_columns = stored.transposed ? rows : columns;
  return {.rows = stored_columns,
          .columns = stored_rows,
          .step = stored.step,
          .batch_step = stored.batch_step,
          .transposed = stored.transposed};
}

}  // namespace

Product dense(Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns, bool a_transposed,
              bool b_transposed) {
  return {.dtype = dtype,
          .result = dtype,
          .rows = rows,
          .inner = inner,
          .columns = columns,
          .a = {.transposed = a_transposed, .step = a_transposed ? rows : inner},
          .b = {.transposed = b_transposed, .step = b_transposed ? inner : columns},
          .d = {.step = columns}};
}

Product product_of(const Linear& spec) {
  switch (spec.direction) {
    case Linear::Direction::forward: {
      Product product = dense(spec.dtype, spec.rows, spec.inner, spec.columns, false, true);
      product.bias = spec.bias;
      return product;
    }
    case Linear::Direction::backward_data:
      return dense(spec.dtype, spec.rows, spec.columns, spec.inner, false, false);
    case Linear::Direction::backward_weights:
      return dense(spec.dtype, spec.columns, spec.rows, spec.inner, true, false);
    case Linear::Direction::backward:
      break;
  }
  return {};
}

Product product_of(const Matmul& spec) {
  Product product = dense(spec.dtype, spec.rows, spec.inner, spec.columns, false, true);
  product.bias = spec.bias;
  if (left_behind(spec.activation) == Activation::none) {
    product.activation = spec.activation;
  }
  return product;
}

Activation left_behind(Activation activation) {
  const bool fused = activation == Activation::relu || activation == Activation::gelu;
  return fused ? Activation::none : activation;
}

ColumnMajor column_major(const Product& product) {
  return {.first = flipped(product.inner, product.columns, product.b),
          .second = flipped(product.rows, product.inner, product.a),
          .result = flipped(product.rows, product.columns, product.d)};
}

std::string described(const Product& product) {
  std::string text = fmt::format("{} {}x{}{} by {}x{}{}", name_of(product.dtype), product.rows, product.inner,
                                 product.a.transposed ? "T" : "", product.inner, product.columns,
                                 product.b.transposed ? "T" : "");
  if (product.batch != 1) {
    text += fmt::format(" batch {}", product.batch);
  }
  if (product.bias || product.activation != Activation::none) {
    text += fmt::format(" {}{}", product.bias ? "+bias" : "",
                        product.activation == Activation::relu   ? "+relu"
                        : product.activation == Activation::gelu ? "+gelu"
                                                                 : "");
  }
  return text;
}

std::string described_in_full(const Product& product) {
  std::string text = fmt::format("{}, result {}, scale {}, alignment {}, steps", described(product),
                                 name_of(product.result), product.scale, product.alignment);
  for (const Stored* matrix : {&product.a, &product.b, &product.d}) {
    text += fmt::format(" {}/{}", matrix->step, matrix->batch_step);
  }
  return text;
}

}  // namespace bench::kernels::cublaslt
