// Strided copies on fibers: every kind, memory in and out of alignment, nests in parts.
#include <fmt/format.h>

#include "kernels/operations/strided_copy/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/strided_copy_cases.h"

namespace bench::kernels {
namespace {

constexpr double kExact = 1e-30;  // a copy rounds nothing

TEST(CudaStridedCopy, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const auto& [name, spec] : testing::copy_cases(dtype, false)) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
        SCOPED_TRACE(fmt::format("{} {}, {} bytes off", name_of(dtype), name, offset));
        testing::expect_like_reference<cuda::StridedCopyOperation>(spec, dtype, {.offset = offset}, kExact);
        for (std::size_t index = 0; index < spec.parts.size(); ++index) {
          StridedCopy gradient = backward_of(spec);
          gradient.index = index;
          if (!gradient.invalid()) {
            // Where a border was repeated, sums are rounded several times.
            testing::expect_like_reference<cuda::StridedCopyOperation>(gradient, dtype, {.offset = offset},
                                                                       2 * testing::tolerance_of(dtype));
          }
        }
      }
    }
  }
}

struct FewCounted : testing::Fibers {
  static constexpr std::int64_t kMostCounted = 500;
};

// Beyond what a kernel counts: nests in parts take the place of whole pixels.
TEST(CudaStridedCopy, LargeMapsAreJoinedInParts) {
  const Array large{.dims = {37, 8, 5, 7}, .layout = Layout::nhwc};
  const Array small{.dims = {37, 16, 4, 5}, .layout = Layout::nhwc};
  StridedCopy spec = testing::joined({large, small}, 1, Layout::nhwc);
  ASSERT_TRUE(spec.is_of_whole_pixels());
  testing::expect_like_reference<cuda::StridedCopyOperation, FewCounted>(spec, Dtype::fp32, {}, kExact);
  spec.index = 1;
  testing::expect_like_reference<cuda::StridedCopyOperation, FewCounted>(backward_of(spec), Dtype::fp32, {},
                                                                         kExact);
}

TEST(CudaNest, IsWalkedInParts) {
  const Array src{.dims = {3, 4, 5}};
  const StridedCopy turned = testing::transposed(src, {2, 0, 1});
  const LoopNest nest = steps_of(turned).steps.at(0).nest;
  for (const std::int64_t most : {60, 59, 12, 7, 1}) {
    std::vector<int> written(60, 0);
    cuda::for_each_counted(nest, most, [&](const LoopNest& part) {
      const cuda::NestLoops loops(part);
      ASSERT_LE(loops.count, most);
      for (std::uint32_t i = 0; i < loops.count; ++i) {
        std::int64_t at[2];
        loops.place_of(i, at);
        ++written[at[0]];
        const std::int64_t c = at[0] / 12;
        EXPECT_EQ(at[1], at[0] % 12 * 5 + c);
      }
    });
    EXPECT_EQ(std::ranges::count(written, 1), 60) << most;
  }
}

}  // namespace
}  // namespace bench::kernels
