// The kernels that show what memory and arithmetic can do, on fibers: every dtype, sizes with and without a
// tail, memory out of alignment.
#include <array>

#include <fmt/format.h>

#include "kernels/operations/fma/cuda.cu"
#include "kernels/operations/launch/cuda.cu"
#include "kernels/operations/stream/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::few_under_thread_sanitizer;
using Kind = Stream::Kind;

TEST(CudaStream, IsLikeItsReference) {
  if (testing::under_thread_sanitizer()) {
    GTEST_SKIP() << "there is no barrier in them";
  }
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const Kind kind : {Kind::copy, Kind::scale, Kind::add, Kind::triad}) {
      for (const std::int64_t count : {1, 7, 255, 4099, 70001}) {
        for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
          SCOPED_TRACE(fmt::format("{} {} {} elements, {} off", name_of(dtype), static_cast<int>(kind), count,
                                   offset));
          expect_like_reference<cuda::StreamOperation>({kind, 3, count, dtype}, dtype, {.offset = offset});
        }
      }
    }
  }
}

// Rows of less than an access, of one part, of several parts with a short last one.
TEST(CudaStream, ReadsWholeRows) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t rows : {1, 2, 19}) {
      for (const std::int64_t count : {1, 3, 8, 1024, 4099, 8192, 33000, 70001}) {
        for (const std::int64_t offset :
             few_under_thread_sanitizer(std::array{bytes_of(dtype), std::int64_t{0}})) {
          SCOPED_TRACE(fmt::format("{} {} x {}, {} off", name_of(dtype), rows, count, offset));
          expect_like_reference<cuda::StreamOperation>({Kind::read, rows, count, dtype}, dtype,
                                                       {.offset = offset}, 1e-6);
        }
      }
    }
  }
}

// Sums go through fp32, so that they end neither at fp16's largest number nor at bf16's eight bits.
TEST(CudaStream, ReadsMoreThanItsDtypeCouldHold) {
  const auto operation = testing::on_fibers<cuda::StreamOperation>({Kind::read, 1, 400'000, Dtype::fp16});
  EXPECT_EQ(operation->find(Slot::dst)->tensor.dtype, Dtype::fp32);
  const auto dst = testing::run_exactly(*operation, Dtype::fp16).at(Slot::dst);
  float sum = 0;
  std::memcpy(&sum, dst.data(), sizeof sum);
  EXPECT_NEAR(sum, 400'000 / 3.0, 2000);
  EXPECT_GT(sum, 65'504);
}

TEST(CudaStream, GivesTheSameBitsEachTime) {
  const auto operation = testing::on_fibers<cuda::StreamOperation>({Kind::read, 3, 40'000, Dtype::fp32});
  EXPECT_EQ(testing::run_exactly(*operation, Dtype::fp32), testing::run_exactly(*operation, Dtype::fp32));
}

// A step rounds once in 16 bits, and the errors of the steps add up.
TEST(CudaFma, IsLikeItsReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t count : {1, 15, 4096, 5003}) {
      for (const std::int64_t steps : {1, 3, 16, 37}) {
        for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
          SCOPED_TRACE(fmt::format("{} {} elements, {} steps, {} off", name_of(dtype), count, steps, offset));
          const double growth = bytes_of(dtype) == 2 ? static_cast<double>(steps) : 1.0;
          expect_like_reference<cuda::FmaOperation>({2, count, steps, dtype}, dtype, {.offset = offset},
                                                    growth * testing::tolerance_of(dtype));
        }
      }
    }
  }
}

// x → 127/128 · x + 1/128 leads to 1, from wherever it starts.
TEST(CudaFma, EndsAtItsFixedPoint) {
  const auto operation = testing::on_fibers<cuda::FmaOperation>({1, 9, 4000, Dtype::fp32});
  const auto dst = testing::run_exactly(*operation, Dtype::fp32).at(Slot::dst);
  for (std::size_t i = 0; i < 9; ++i) {
    float value = 0;
    std::memcpy(&value, dst.data() + i * sizeof value, sizeof value);
    EXPECT_NEAR(value, 1, 1e-4);
  }
}

// Rows of less than a tile, of whole tiles, of several blocks and a ragged end; whole accesses and single
// ones.
TEST(CudaFma, MultipliesTilesLikeItsReference) {
  for (const Dtype dtype : few_under_thread_sanitizer(std::array{Dtype::fp16, Dtype::bf16})) {
    for (const std::int64_t count :
         few_under_thread_sanitizer(std::array{1, 8, 256, 8192, 20'000, 250, 1032, 8193}, 3)) {
      for (const std::int64_t steps : few_under_thread_sanitizer(std::array{1, 37, 3})) {
        for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
          SCOPED_TRACE(fmt::format("{} {} elements, {} steps, {} off", name_of(dtype), count, steps, offset));
          expect_like_reference<cuda::FmaOperation>({2, count, steps, dtype, Fma::Kind::tiles}, dtype,
                                                    {.offset = offset});
        }
      }
    }
  }
}

TEST(CudaFma, TensorCoresTakeSixteenBits) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::tf32}) {
    const Fma spec{.count = 256, .dtype = dtype, .kind = Fma::Kind::tiles};
    EXPECT_EQ(cuda::FmaOperation<testing::Fibers>::unsupported(spec),
              fmt::format("fma on tensor cores is done in fp16 and bf16, not {}", name_of(dtype)));
  }
}

TEST(CudaLaunch, LeavesOneBehindEachLaunch) {
  for (const std::int64_t launches : {1, 5}) {
    expect_like_reference<cuda::RoundTripOperation>({launches}, Dtype::fp32, {}, 1e-30);
  }
}

TEST(CudaLaunch, IsUnsupportedWithoutAnImplementation) {
  try {
    make_operation(RoundTrip{}, testing::cpu());
    FAIL() << "the CPU has no kernels to launch";
  } catch (const Unsupported& error) {
    EXPECT_STREQ(error.what(), "launch has no implementation on cpu");
  }
}

}  // namespace
}  // namespace bench::kernels
