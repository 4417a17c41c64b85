#include "host_product.h"

#include <cstring>
#include <stdexcept>

#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels::testing {
namespace {

using cublaslt::ColumnMajor;

// One element, as the library finds it in memory.
struct Column {
  ColumnMajor::Matrix matrix;
  Dtype dtype;

  std::int64_t offset(std::int64_t row, std::int64_t column, std::int64_t batch) const {
    if (matrix.transposed) {
      std::swap(row, column);
    }
    if (row >= matrix.rows || column >= matrix.columns || matrix.step < matrix.rows) {
      throw std::logic_error("a product reads beyond its matrix");
    }
    return (batch * matrix.batch_step + column * matrix.step + row) * bytes_of(dtype);
  }
  double read(const void* memory, std::int64_t row, std::int64_t column, std::int64_t batch) const {
    float value = 0;
    load({.n = 1, .c = 1, .dtype = dtype}, static_cast<const std::byte*>(memory) + offset(row, column, batch),
         {&value, 1});
    return static_cast<double>(value);
  }
  void write(void* memory, std::int64_t row, std::int64_t column, std::int64_t batch, double value) const {
    const auto rounded = static_cast<float>(value);
    store({.n = 1, .c = 1, .dtype = dtype}, {&rounded, 1},
          static_cast<std::byte*>(memory) + offset(row, column, batch));
  }
};

}  // namespace

void HostProduct::run(const cublaslt::ProductArguments& arguments) const {
  for (const void* const address :
       std::initializer_list<const void*>{arguments.a, arguments.b, arguments.d}) {
    if (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(product_.alignment) != 0) {
      throw std::logic_error("a product's address is not aligned as promised");
    }
  }
  cuda::check_library_scratch(arguments.workspace);
  std::memset(arguments.workspace, 0xff, kWorkspace);
  const ColumnMajor view = column_major(product_);
  const Column first{view.first, product_.dtype};
  const Column second{view.second, product_.dtype};
  const Column result{view.result, product_.result};
  for (std::int64_t n = 0; n < product_.batch; ++n) {
    for (std::int64_t column = 0; column < view.result.columns; ++column) {
      for (std::int64_t row = 0; row < view.result.rows; ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < product_.inner; ++k) {
          sum += first.read(arguments.b, row, k, n) * second.read(arguments.a, k, column, n);
        }
        result.write(arguments.d, row, column, n, static_cast<double>(product_.scale) * sum);
      }
    }
  }
}

}  // namespace bench::kernels::testing
