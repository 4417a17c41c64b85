// Optimizer steps on fibers: every kind and dtype, sizes with and without a tail, memory out of alignment.
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "kernels/operations/optimizer/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using Kind = Optimizer::Kind;

TEST(CudaOptimizer, IsLikeItsReferenceOverThreeSteps) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const Kind kind : {Kind::sgd, Kind::momentum, Kind::adam}) {
      for (const std::int64_t count : {1, 5, 8, 263, 4099}) {
        for (const std::int64_t offset : {0, 8}) {
          SCOPED_TRACE(fmt::format("{} kind {} count {} offset {}", name_of(dtype), static_cast<int>(kind),
                                   count, offset));
          // States above zero: a second one below would have no root.
          testing::expect_like_reference<cuda::OptimizerOperation>(
              {.kind = kind, .count = count, .dtype = dtype}, dtype,
              {.offset = offset, .positive = true, .runs = 3});
        }
      }
    }
  }
}

// The correction of the second state is 0.001 in the first step, and near 1 in late ones.
TEST(CudaOptimizer, CorrectsAdamsFirstAndLateSteps) {
  for (const std::int64_t done : {0, 1, 10, 1000, 100'000, 10'000'000}) {
    SCOPED_TRACE(done);
    testing::Bytes steps(sizeof done);
    std::memcpy(steps.data(), &done, sizeof done);
    testing::expect_like_reference<cuda::OptimizerOperation>(
        {.kind = Kind::adam, .count = 33, .rate = 0.1F}, Dtype::fp32,
        {.opaque = {{Slot::steps, steps}}, .positive = true}, 1e-6);
  }
}

}  // namespace
}  // namespace bench::kernels
