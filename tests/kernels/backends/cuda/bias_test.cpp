// The kernels behind a product, and the gradient of a bias, on fibers against plain loops: columns that fill
// an access and odd ones, one chunk of rows and several, memory out of alignment.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fibers.h"
#include "kernels/operations/elementwise/bias.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::Bytes;
using testing::few_under_thread_sanitizer;
using testing::FiberQueue;
using testing::Fibers;

struct BiasShape {
  std::int64_t rows, columns;
};

constexpr std::array kBiasShapes{BiasShape{1, 1},   BiasShape{3, 7},    BiasShape{40, 8},  BiasShape{5, 260},
                                 BiasShape{300, 2}, BiasShape{1500, 3}, BiasShape{700, 16}};

// Numbers that the dtype holds, in memory of exactly their size after `offset` bytes.
class Stored {
 public:
  Stored(std::int64_t count, Dtype dtype, std::int64_t offset, std::uint64_t stream)
      : row_{.n = 1, .c = count, .dtype = dtype},
        bytes_(static_cast<std::size_t>(row_.bytes() + offset)),
        offset_(offset) {
    std::vector<float> values(static_cast<std::size_t>(count));
    fill_random(values, 1, stream);
    for (float& value : values) {
      value *= 8;  // beyond what relu6 cuts
    }
    store(row_, values, data());
  }

  void* data() { return bytes_.data() + offset_; }
  std::vector<float> values() {
    std::vector<float> read(static_cast<std::size_t>(row_.c));
    load(row_, data(), read);
    return read;
  }

 private:
  TensorDesc row_;
  Bytes bytes_;  // from the heap: aligned to 16 bytes
  std::int64_t offset_;
};

void expect_near(const std::vector<float>& tested, const std::vector<float>& right, double tolerance) {
  ASSERT_EQ(tested.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    ASSERT_NEAR(tested[i], right[i], tolerance * (1 + std::fabs(right[i]))) << "element " << i;
  }
}

template <class Visit>
void for_each_bias(Visit visit) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const auto& [rows, columns] : kBiasShapes) {
      for (const std::int64_t offset : few_under_thread_sanitizer(std::array{4, 0})) {
        SCOPED_TRACE(fmt::format("{} {}x{} {} bytes off", name_of(dtype), rows, columns, offset));
        visit(cuda::Matrix{.rows = rows, .columns = columns, .dtype = dtype}, offset);
      }
    }
  }
}

struct Added {
  bool bias, wide, residual;
};

void expect_finished(const cuda::Matrix& matrix, std::int64_t offset, Activation activation,
                     const Added& added) {
  const std::int64_t count = matrix.rows * matrix.columns;
  Stored dst(count, matrix.dtype, offset, 1);
  Stored bias(matrix.columns, added.wide ? Dtype::fp32 : matrix.dtype, offset, 2);
  Stored residual(count, matrix.dtype, offset, 3);
  std::vector<float> right = dst.values();
  const std::vector<float> of_column = bias.values();
  const std::vector<float> of_element = residual.values();
  for (std::size_t i = 0; i < right.size(); ++i) {
    right[i] += added.residual ? of_element[i] : 0.0F;
    right[i] += added.bias ? of_column[i % of_column.size()] : 0.0F;
    right[i] = apply(activation, right[i]);
  }
  cuda::launch_epilogue<Fibers>(
      FiberQueue(testing::cpu()), {.dst = matrix, .activation = activation, .wide_bias = added.wide},
      dst.data(), added.bias ? bias.data() : nullptr, added.residual ? residual.data() : nullptr);
  expect_near(dst.values(), right, testing::tolerance_of(matrix.dtype));
}

TEST(CudaBias, FinishesAProduct) {
  for_each_bias([](const cuda::Matrix& matrix, std::int64_t offset) {
    if (matrix.rows * matrix.columns > 2000) {
      return;  // what large ones differ in has its own test
    }
    for (const Added& added :
         {Added{true, false, false}, Added{true, true, true}, Added{false, false, true}, Added{}}) {
      SCOPED_TRACE(fmt::format("bias {} wide {} residual {}", added.bias, added.wide, added.residual));
      expect_finished(matrix, offset, Activation::none, added);
      expect_finished(matrix, offset, Activation::gelu, added);
    }
  });
}

TEST(CudaBias, AppliesEveryActivation) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu, Activation::gelu,
        Activation::gelu_erf, Activation::silu, Activation::sigmoid, Activation::hard_swish}) {
    SCOPED_TRACE(name_of(activation.kind));
    expect_finished({.rows = 9, .columns = 24}, 0, activation, {true, false, true});
  }
}

TEST(CudaBias, KeepsWhatIsNoNumber) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu, Activation::gelu}) {
    float value = std::numeric_limits<float>::quiet_NaN();
    cuda::launch_epilogue<Fibers>(FiberQueue(testing::cpu()),
                                  {.dst = {.rows = 1, .columns = 1}, .activation = activation}, &value,
                                  nullptr, nullptr);
    EXPECT_TRUE(std::isnan(value)) << name_of(activation.kind);
  }
}

TEST(CudaBias, SumsColumns) {
  bool several_chunks = false;
  for_each_bias([&](const cuda::Matrix& matrix, std::int64_t offset) {
    Stored values(matrix.rows * matrix.columns, matrix.dtype, offset, 1);
    const std::int64_t scratch = cuda::column_sums_bytes(matrix);
    several_chunks = several_chunks || scratch > 0;
    Bytes partial(static_cast<std::size_t>(scratch), std::byte{0xff});
    Stored sums(matrix.columns, Dtype::fp32, offset, 2);
    cuda::launch_column_sums<Fibers>(FiberQueue(testing::cpu()), matrix, values.data(),
                                     static_cast<float*>(sums.data()),
                                     scratch == 0 ? nullptr : partial.data());
    const std::vector<float> read = values.values();
    std::vector<double> sums_in_double(static_cast<std::size_t>(matrix.columns));
    for (std::size_t i = 0; i < read.size(); ++i) {
      sums_in_double[i % sums_in_double.size()] += static_cast<double>(read[i]);
    }
    // Sums of values up to 8, whose signs cancel.
    expect_near(sums.values(), {sums_in_double.begin(), sums_in_double.end()},
                1e-6 * static_cast<double>(matrix.rows + 1));
  });
  EXPECT_TRUE(several_chunks);
}

// Addresses decide in which of two ways a run reads, and these differ in their chunks.
TEST(CudaBias, NeedsScratchForTheLargerOfBothAccesses) {
  for (const std::int64_t rows : {1, 31, 32, 33, 1000, 100'000}) {
    for (const std::int64_t columns : {1, 8, 64, 1000, 4096}) {
      const cuda::Matrix matrix{.rows = rows, .columns = columns, .dtype = Dtype::bf16};
      const std::int64_t scratch = cuda::column_sums_bytes(matrix);
      for (const std::int64_t lanes : {1, 8}) {
        if (columns % lanes == 0) {
          const std::uint32_t chunks = cuda::Tiling::of(rows, columns / lanes, cuda::kSummingBlocks).chunks;
          EXPECT_GE(scratch, chunks == 1 ? 0 : chunks * columns * 4) << rows << "x" << columns;
        }
      }
    }
  }
}

TEST(CudaBias, NarrowsToTheNearest) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    for (const std::int64_t count : {1, 255, 256, 700}) {
      std::vector<float> from(static_cast<std::size_t>(count));
      fill_random(from, 1, 4);
      const TensorDesc row{.n = 1, .c = count, .dtype = dtype};
      Bytes right(static_cast<std::size_t>(row.bytes()));
      store(row, from, right.data());
      Bytes to(right.size());
      cuda::launch_narrow<Fibers>(FiberQueue(testing::cpu()), from.data(), to.data(), count, dtype);
      EXPECT_EQ(to, right);
    }
  }
  float value = 0;
  EXPECT_THROW(cuda::launch_narrow<Fibers>(FiberQueue(testing::cpu()), &value, &value, 1, Dtype::fp32),
               std::logic_error);
}

}  // namespace
}  // namespace bench::kernels
