// From our row-major products to cuBLASLt's column-major ones, checked by computing through its view. Asks
// cuBLASLt nothing and runs in every build.
#include "kernels/backends/cublaslt/product.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace bench::kernels::cublaslt {
namespace {

// Element (row, column) of op(matrix), as cuBLASLt reads it.
double element(const ColumnMajor::Matrix& matrix, const std::vector<double>& memory, std::int64_t row,
               std::int64_t column, std::int64_t batch) {
  if (matrix.transposed) {
    std::swap(row, column);
  }
  EXPECT_LT(row, matrix.rows);
  EXPECT_LT(column, matrix.columns);
  return memory.at(static_cast<std::size_t>(batch * matrix.batch_step + column * matrix.step + row));
}

// The computation of cuBLASLt: result = op(first) · op(second), column by column.
std::vector<double> compute(const Product& product, const std::vector<double>& a,
                            const std::vector<double>& b, std::size_t result_size) {
  const ColumnMajor view = column_major(product);
  const std::int64_t rows = view.result.rows;
  const std::int64_t columns = view.result.columns;
  const std::int64_t inner = view.first.transposed ? view.first.rows : view.first.columns;
  EXPECT_EQ(inner, view.second.transposed ? view.second.columns : view.second.rows);
  EXPECT_EQ(rows, view.first.transposed ? view.first.columns : view.first.rows);
  EXPECT_EQ(columns, view.second.transposed ? view.second.rows : view.second.columns);
  std::vector<double> d(result_size);
  for (std::int64_t n = 0; n < product.batch; ++n) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += element(view.first, b, row, k, n) * element(view.second, a, k, column, n);
        }
        d.at(static_cast<std::size_t>(n * view.result.batch_step + column * view.result.step + row)) = sum;
      }
    }
  }
  return d;
}

std::vector<double> numbers(std::int64_t count, double first) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(first + 0.5 * static_cast<double>(i * i % 17));
  }
  return values;
}

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kInner = 4;
constexpr std::int64_t kColumns = 5;

const std::vector<double> src = numbers(kRows * kInner, 1);          // [rows][inner]
const std::vector<double> weights = numbers(kColumns * kInner, -2);  // [columns][inner]
const std::vector<double> diff_dst = numbers(kRows * kColumns, 3);   // [rows][columns]

Linear linear(Linear::Direction direction) {
  return {.rows = kRows, .inner = kInner, .columns = kColumns, .direction = direction};
}

TEST(CublasltProduct, ForwardMultipliesByTransposedWeights) {
  const auto d = compute(product_of(linear(Linear::Direction::forward)), src, weights, kRows * kColumns);
  for (std::int64_t m = 0; m < kRows; ++m) {
    for (std::int64_t n = 0; n < kColumns; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < kInner; ++k) {
        sum += src[m * kInner + k] * weights[n * kInner + k];
      }
      EXPECT_EQ(d[m * kColumns + n], sum);
    }
  }
}

TEST(CublasltProduct, BackwardDataMultipliesByWeights) {
  const auto d =
      compute(product_of(linear(Linear::Direction::backward_data)), diff_dst, weights, kRows * kInner);
  for (std::int64_t m = 0; m < kRows; ++m) {
    for (std::int64_t k = 0; k < kInner; ++k) {
      double sum = 0;
      for (std::int64_t n = 0; n < kColumns; ++n) {
        sum += diff_dst[m * kColumns + n] * weights[n * kInner + k];
      }
      EXPECT_EQ(d[m * kInner + k], sum);
    }
  }
}

TEST(CublasltProduct, BackwardWeightsSumsOverRows) {
  const auto d =
      compute(product_of(linear(Linear::Direction::backward_weights)), diff_dst, src, kColumns * kInner);
  for (std::int64_t n = 0; n < kColumns; ++n) {
    for (std::int64_t k = 0; k < kInner; ++k) {
      double sum = 0;
      for (std::int64_t m = 0; m < kRows; ++m) {
        sum += diff_dst[m * kColumns + n] * src[m * kInner + k];
      }
      EXPECT_EQ(d[n * kInner + k], sum);
    }
  }
}

// Heads side by side in a row: each product reads its own columns, rows lie apart.
TEST(CublasltProduct, StepsFromOneProductToTheNext) {
  constexpr std::int64_t kHeads = 2;
  constexpr std::int64_t kWidth = kHeads * kInner;
  const auto queries = numbers(kRows * kWidth, 1);
  const auto keys = numbers(kColumns * kWidth, 2);
  const Product product{.rows = kRows,
                        .inner = kInner,
                        .columns = kColumns,
                        .a = {.step = kWidth, .batch_step = kInner},
                        .b = {.transposed = true, .step = kWidth, .batch_step = kInner},
                        .d = {.step = kColumns, .batch_step = kRows * kColumns},
                        .batch = kHeads};
  const auto d = compute(product, queries, keys, kHeads * kRows * kColumns);
  for (std::int64_t head = 0; head < kHeads; ++head) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < kInner; ++k) {
          sum += queries[i * kWidth + head * kInner + k] * keys[j * kWidth + head * kInner + k];
        }
        EXPECT_EQ(d[(head * kRows + i) * kColumns + j], sum);
      }
    }
  }
}

// cuBLASLt adds a bias to each row of its result: these are our columns.
TEST(CublasltProduct, HasAResultRowForEachBias) {
  Linear spec = linear(Linear::Direction::forward);
  spec.bias = true;
  EXPECT_TRUE(product_of(spec).bias);
  EXPECT_EQ(column_major(product_of(spec)).result.rows, kColumns);
  spec.direction = Linear::Direction::backward_weights;  // a gradient, which is no part of the product
  EXPECT_FALSE(product_of(spec).bias);
}

TEST(CublasltProduct, FusesReluAndGeluOnly) {
  Linear spec{.rows = kRows,
              .inner = kInner,
              .columns = kColumns,
              .bias = true,
              .packed = true,
              .dtype = Dtype::bf16};
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
    spec.activation = activation;
    EXPECT_EQ(product_of(spec).activation, activation);
  }
  for (const Activation activation : {Activation::relu6, Activation::leaky_relu}) {
    spec.activation = activation;
    EXPECT_EQ(product_of(spec).activation, Activation::none);
  }
  EXPECT_EQ(product_of(spec).dtype, Dtype::bf16);
  EXPECT_EQ(product_of(spec).result, Dtype::bf16);
}

TEST(CublasltProduct, IsAKeyOfTheWork) {
  std::set<Product> keys;
  Linear spec{.rows = kRows, .inner = kInner, .columns = kColumns, .packed = true};
  EXPECT_TRUE(keys.insert(product_of(spec)).second);
  EXPECT_FALSE(keys.insert(product_of(spec)).second);
  spec.activation = Activation::relu;
  EXPECT_TRUE(keys.insert(product_of(spec)).second);
  spec.dtype = Dtype::tf32;
  EXPECT_TRUE(keys.insert(product_of(spec)).second);
  spec.rows = 1;
  EXPECT_TRUE(keys.insert(product_of(spec)).second);
  Product scaled = product_of(spec);
  scaled.scale = 0.5F;
  EXPECT_TRUE(keys.insert(scaled).second);
}

TEST(CublasltProduct, DescribesItself) {
  Linear spec{.rows = 16, .inner = 2048, .columns = 1000, .bias = true, .packed = true, .dtype = Dtype::fp16};
  spec.activation = Activation::relu;
  EXPECT_EQ(described(product_of(spec)), "fp16 16x2048 by 2048x1000T +bias+relu");
}

// The text under which a choice of algorithm is kept on disk.
TEST(Product, UnequalProductsHaveUnequalTexts) {
  std::set<std::string> texts;
  const auto add = [&](auto change) {
    Product product = dense(Dtype::fp16, 16, 32, 64, false, true);
    change(product);
    return texts.insert(described_in_full(product)).second;
  };
  EXPECT_TRUE(add([](Product&) {}));
  EXPECT_FALSE(add([](Product&) {}));
  EXPECT_TRUE(add([](Product& p) { p.dtype = Dtype::bf16; }));
  EXPECT_TRUE(add([](Product& p) { p.result = Dtype::fp32; }));
  EXPECT_TRUE(add([](Product& p) { p.rows = 8; }));
  EXPECT_TRUE(add([](Product& p) { p.inner = 8; }));
  EXPECT_TRUE(add([](Product& p) { p.columns = 8; }));
  EXPECT_TRUE(add([](Product& p) { p.batch = 2; }));
  EXPECT_TRUE(add([](Product& p) { p.alignment = 2; }));
  EXPECT_TRUE(add([](Product& p) { p.scale = 0.125F; }));
  EXPECT_TRUE(add([](Product& p) { p.bias = true; }));
  EXPECT_TRUE(add([](Product& p) { p.activation = Activation::relu; }));
  EXPECT_TRUE(add([](Product& p) { p.activation = Activation::gelu; }));
  for (const auto matrix : {&Product::a, &Product::b, &Product::d}) {
    EXPECT_TRUE(add([&](Product& p) { (p.*matrix).step += 1; }));
    EXPECT_TRUE(add([&](Product& p) { (p.*matrix).batch_step += 1; }));
  }
  for (const auto matrix : {&Product::a, &Product::b}) {
    EXPECT_TRUE(add([&](Product& p) { (p.*matrix).transposed ^= true; }));
  }
}

}  // namespace
}  // namespace bench::kernels::cublaslt
