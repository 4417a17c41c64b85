// Gathering on fibers: lists of one and of several pieces, elements that are named often and never.
#include <fmt/format.h>

#include "kernels/operations/gather/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;

TEST(CudaGather, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t count : {1, 256, 600}) {
      for (const std::int64_t inner : {1, 3, 16}) {
        SCOPED_TRACE(fmt::format("{} {} rows of {}", name_of(dtype), count, inner));
        Gather spec{.outer = 3, .extent = 40, .inner = inner, .indices = {}, .dtype = dtype};
        for (std::int64_t i = 0; i < count; ++i) {
          spec.indices.push_back(static_cast<std::int32_t>(i % 7 == 0 ? 5 : i * 31 % 37));
        }
        expect_like_reference<cuda::GatherOperation>(spec, dtype);
        expect_like_reference<cuda::GatherOperation>(backward_of(spec), dtype, {},
                                                     2 * testing::tolerance_of(dtype));
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
