// Resizing on fibers: larger, smaller and oblong, channels that fill an access and odd ones.
#include "kernels/operations/resize/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/resize_cases.h"

namespace bench::kernels {
namespace {

TEST(CudaResize, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t channels : {3, 8}) {
      for (const Resize& spec : testing::resizes({.n = 2, .c = channels, .h = 4, .w = 5, .dtype = dtype})) {
        SCOPED_TRACE(testing::described(spec));
        testing::expect_like_reference<cuda::ResizeOperation>(spec, dtype);
        testing::expect_like_reference<cuda::ResizeOperation>(backward_of(spec), dtype);
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
