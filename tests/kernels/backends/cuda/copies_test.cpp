// Kernels that move pixels on fibers: channels that fill an access of any width, maps of several sizes.
#include <array>

#include <fmt/format.h>

#include "kernels/operations/concat/cuda.cu"
#include "kernels/operations/rows/cuda.cu"
#include "kernels/operations/upsample/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;

constexpr double kExact = 1e-30;  // a copy rounds nothing

TEST(CudaConcat, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::array<std::int64_t, 3>& channels :
         {std::array<std::int64_t, 3>{8, 16, 24}, {3, 5, 1}, {4, 12, 2}, {1, 1, 1}, {2, 6, 2}}) {
      SCOPED_TRACE(fmt::format("{} {} + {} + {}", name_of(dtype), channels[0], channels[1], channels[2]));
      Concat spec;
      const std::array<std::array<std::int64_t, 2>, 3> sizes{{{5, 7}, {4, 7}, {2, 4}}};
      for (std::size_t i = 0; i < 3; ++i) {
        spec.inputs.push_back({.n = 2,
                               .c = channels[i],
                               .h = sizes[i][0],
                               .w = sizes[i][1],
                               .layout = Layout::nhwc,
                               .dtype = dtype});
      }
      for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
        expect_like_reference<cuda::ConcatOperation>(spec, dtype, {.offset = offset}, kExact);
        for (std::size_t index = 0; index < 3; ++index) {
          Concat gradient = backward_of(spec);
          gradient.index = index;
          expect_like_reference<cuda::ConcatOperation>(gradient, dtype, {.offset = offset}, kExact);
        }
      }
    }
  }
}

TEST(CudaRows, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t classes : {1, 4, 85}) {
      SCOPED_TRACE(fmt::format("{} {} classes", name_of(dtype), classes));
      const Rows spec{.maps = {{.n = 3, .c = 3 * classes, .h = 4, .w = 5, .dtype = dtype},
                               {.n = 3, .c = classes, .h = 2, .w = 3, .dtype = dtype}},
                      .classes = classes};
      expect_like_reference<cuda::RowsOperation>(spec, dtype, {}, kExact);
      for (std::size_t index = 0; index < 2; ++index) {
        Rows gradient = backward_of(spec);
        gradient.index = index;
        expect_like_reference<cuda::RowsOperation>(gradient, dtype, {}, kExact);
      }
    }
  }
}

TEST(CudaUpsample, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t channels : {1, 3, 8, 20}) {
      for (const std::int64_t factor : {1, 2, 3}) {
        SCOPED_TRACE(fmt::format("{} {} channels times {}", name_of(dtype), channels, factor));
        const Upsample spec{.src = {.n = 2, .c = channels, .h = 3, .w = 5, .dtype = dtype}, .factor = factor};
        expect_like_reference<cuda::UpsampleOperation>(spec, dtype, {}, kExact);
        expect_like_reference<cuda::UpsampleOperation>(backward_of(spec), dtype);
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
