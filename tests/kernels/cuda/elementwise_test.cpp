// Element-wise kernels on fibers: every dtype, sizes with and without a tail, memory out of alignment, in
// place.
#include <array>

#include <fmt/format.h>

#include "kernels/relu/launch.h"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::RunOptions;

constexpr std::array<std::int64_t, 8> kSizes{1, 3, 7, 8, 255, 1024, 4099, 140001};

template <class Visit>
void for_each_case(Visit visit) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t size : kSizes) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
        SCOPED_TRACE(fmt::format("{} {} elements, {} bytes off", name_of(dtype), size, offset));
        visit(TensorDesc{.n = 1, .c = size, .dtype = dtype}, RunOptions{.offset = offset});
      }
    }
  }
}

constexpr std::array kRectifiers{Activation::relu, Activation::relu6, Activation::leaky_relu};

TEST(CudaRelu, IsLikeItsReference) {
  for (const Activation activation : kRectifiers) {
    for_each_case([&](const TensorDesc& tensor, RunOptions options) {
      expect_like_reference<cuda::ReluOperation>({tensor, activation}, tensor.dtype, options);
      options.in_place = {{Slot::dst, Slot::src}};
      expect_like_reference<cuda::ReluOperation>({tensor, activation}, tensor.dtype, options);
    });
  }
}

}  // namespace
}  // namespace bench::kernels
