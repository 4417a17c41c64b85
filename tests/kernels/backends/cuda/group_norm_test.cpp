// Group and local response normalisation on fibers: channels that fill an access and odd ones, groups of one,
// some and all channels.
#include <fmt/format.h>

#include "kernels/operations/group_norm/cuda.cu"
#include "kernels/operations/lrn/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::RunOptions;

TEST(CudaGroupNorm, AllPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t channels : {6, 40}) {
      for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{2}, channels}) {
        for (const bool affine : {false, true}) {
          SCOPED_TRACE(
              fmt::format("{} {} channels, {} groups, {}", name_of(dtype), channels, groups, affine));
          GroupNorm spec{.tensor = {.n = 2, .c = channels, .h = 5, .w = 7, .dtype = dtype},
                         .groups = groups,
                         .affine = affine};
          const double tolerance = 2 * testing::tolerance_of(dtype);
          expect_like_reference<cuda::GroupNormOperation>(spec, dtype, {}, tolerance);
          spec.training = true;
          expect_like_reference<cuda::GroupNormOperation>(spec, dtype, {}, tolerance);
          RunOptions in_place{.in_place = {{Slot::diff_src, Slot::diff_dst}}, .positive = true};
          expect_like_reference<cuda::GroupNormOperation>(backward_of(spec), dtype, in_place, tolerance);
        }
      }
    }
  }
}

// Maps that several blocks sum, whose last chunk is shorter, and groups that a thread, a warp or a block
// joins.
TEST(CudaGroupNorm, ManyPixelsAreLikeTheReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    for (const auto& [n, channels, groups, pixels] :
         {std::array<std::int64_t, 4>{1, 3, 3, 5000}, {1, 40, 4, 3001}, {2, 3, 1, 2000}, {1, 4104, 1, 5}}) {
      SCOPED_TRACE(fmt::format("{} {} samples, {} channels, {} groups, {} pixels", name_of(dtype), n,
                               channels, groups, pixels));
      GroupNorm spec{.tensor = {.n = n, .c = channels, .h = 1, .w = pixels, .dtype = dtype},
                     .groups = groups,
                     .affine = true,
                     .training = true};
      const double tolerance = 2 * testing::tolerance_of(dtype);
      expect_like_reference<cuda::GroupNormOperation>(spec, dtype, {}, tolerance);
      expect_like_reference<cuda::GroupNormOperation>(backward_of(spec), dtype, {.positive = true},
                                                      tolerance);
    }
  }
}

TEST(CudaLrn, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t channels : {1, 3, 16}) {
      SCOPED_TRACE(fmt::format("{} {} channels", name_of(dtype), channels));
      const Lrn spec{
          .tensor = {.n = 2, .c = channels, .h = 3, .w = 5, .dtype = dtype}, .alpha = 0.7F, .k = 2};
      expect_like_reference<cuda::LrnOperation>(spec, dtype);
      expect_like_reference<cuda::LrnOperation>(backward_of(spec), dtype, {},
                                                2 * testing::tolerance_of(dtype));
    }
  }
}

}  // namespace
}  // namespace bench::kernels
