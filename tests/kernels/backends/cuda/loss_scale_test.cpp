// Loss scaling on fibers: what is not finite anywhere in a row, and operations that read the factor.
#include "kernels/operations/loss_scale/cuda.cu"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/operations/cross_entropy/cuda.cu"
#include "kernels/operations/optimizer/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

testing::Bytes stored(const LossScale& scale) {
  testing::Bytes bytes(sizeof scale);
  std::memcpy(bytes.data(), &scale, sizeof scale);
  return bytes;
}

// Gradients of 1 but for one, as stored.
testing::Bytes gradient(std::int64_t count, Dtype dtype, std::int64_t at, float odd) {
  std::vector<float> values(static_cast<std::size_t>(count), 1.0F);
  values[static_cast<std::size_t>(at)] = odd;
  const TensorDesc row{.n = 1, .c = count, .dtype = dtype};
  testing::Bytes bytes(static_cast<std::size_t>(row.bytes()));
  store(row, values, bytes.data());
  return bytes;
}

TEST(CudaFindOverflow, FindsItWhereverItIs) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const std::int64_t count : {1, 7, 8, 263, 4099}) {
      const auto operation =
          testing::on_fibers<cuda::FindOverflowOperation>({.count = count, .dtype = dtype});
      for (const std::int64_t at : {std::int64_t{0}, count / 2, count - 1}) {
        for (const std::int64_t offset : {0, 8}) {
          for (const float odd :
               {65504.0F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                std::numeric_limits<float>::quiet_NaN()}) {
            SCOPED_TRACE(
                fmt::format("{} count {} at {} offset {}: {}", name_of(dtype), count, at, offset, odd));
            const auto left = testing::run_exactly(
                *operation, dtype,
                {.opaque = {{Slot::diff_weights, gradient(count, dtype, at, odd)},
                            {Slot::loss_scale, stored({.factor = 4, .overflow = 0, .good_steps = 9})}},
                 .offset = offset});
            EXPECT_EQ(left.at(Slot::loss_scale),
                      stored({.factor = 4, .overflow = odd == 65504.0F ? 0 : 1, .good_steps = 9}));
          }
        }
      }
    }
  }
}

TEST(CudaLossScale, AdaptsLikeItsReference) {
  for (const std::int32_t overflow : {0, 1}) {
    for (const std::int32_t good_steps :
         {0, LossScale::kGrowthInterval - 2, LossScale::kGrowthInterval - 1}) {
      SCOPED_TRACE(fmt::format("overflow {} after {}", overflow, good_steps));
      testing::expect_like_reference<cuda::UpdateLossScaleOperation>(
          {}, Dtype::fp32,
          {.opaque = {{Slot::loss_scale,
                       stored({.factor = 1024, .overflow = overflow, .good_steps = good_steps})}},
           .runs = 2});
    }
  }
}

TEST(CudaOptimizer, DividesByTheFactorAndStopsAtAnOverflow) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    for (const auto kind : {Optimizer::Kind::sgd, Optimizer::Kind::momentum, Optimizer::Kind::adam}) {
      for (const std::int32_t overflow : {0, 1}) {
        SCOPED_TRACE(fmt::format("{} kind {} overflow {}", name_of(dtype), static_cast<int>(kind), overflow));
        testing::expect_like_reference<cuda::OptimizerOperation>(
            {.kind = kind, .count = 263, .dtype = dtype, .scaled = true}, dtype,
            {.opaque = {{Slot::loss_scale, stored({.factor = 8, .overflow = overflow, .good_steps = 0})}},
             .positive = true,
             .runs = 2});
      }
    }
  }
}

TEST(CudaCrossEntropy, ScalesItsGradient) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    testing::expect_like_reference<cuda::CrossEntropyOperation>(
        {.rows = 5, .classes = 40, .scale = 0.2F, .dtype = dtype, .scaled = true}, dtype,
        {.opaque = {{Slot::loss_scale, stored({.factor = 4096, .overflow = 0, .good_steps = 0})}}});
  }
}

}  // namespace
}  // namespace bench::kernels
