// Preprocessing: the reference by hand, our kernels on fibers against it.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "kernels/operations/preprocess/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::Bytes;
using testing::RunOptions;

Bytes image_bytes(std::int64_t count) {
  Bytes bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::byte>(i * 37 % 256));
  }
  return bytes;
}

TEST(PreprocessReference, ByHand) {
  const Preprocess spec{.dst = {.n = 1, .c = 2, .h = 1, .w = 2, .layout = Layout::nchw},
                        .mean = {0.5F, 0, 0, 0},
                        .deviation = {0.5F, 2, 1, 1}};
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  const Bytes src{std::byte{0}, std::byte{255}, std::byte{255}, std::byte{51}};
  const Bytes dst =
      testing::run_exactly(*reference, Dtype::fp32, {.opaque = {{Slot::src, src}}}).at(Slot::dst);
  std::array<float, 4> values{};
  std::memcpy(values.data(), dst.data(), sizeof values);
  EXPECT_THAT(values, ::testing::ElementsAre(-1, 1, 0.5F, 0.1F));
}

TEST(Preprocess, SaysWhatIsWrong) {
  EXPECT_FALSE((Preprocess{.dst = {1, 3, 4, 4}}).invalid());
  EXPECT_THAT(*Preprocess({.dst = {1, 5, 4, 4}}).invalid(), ::testing::HasSubstr("1 to 4 channels, not 5"));
  EXPECT_TRUE((Preprocess{.dst = {1, 3, 0, 4}}).invalid());
  EXPECT_TRUE((Preprocess{.dst = {1, 3, 4, 4, Layout::nchw16c}}).invalid());
  EXPECT_TRUE((Preprocess{.dst = {1, 1, 4, 4}, .deviation = {0, 1, 1, 1}}).invalid());
}

TEST(CudaPreprocess, IsLikeItsReference) {
  for (const Dtype dtype : kAllDtypes) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
      for (const std::int64_t channels : {1, 2, 3, 4}) {
        for (const std::array<std::int64_t, 2>& size :
             {std::array<std::int64_t, 2>{1, 1}, {5, 7}, {16, 24}, {9, 8}}) {
          for (const std::int64_t offset : {0, 4}) {
            SCOPED_TRACE(fmt::format("{} {} {}x{}x{} {} bytes off", name_of(dtype), name_of(layout), channels,
                                     size[0], size[1], offset));
            const Preprocess spec{
                .dst = {.n = 2, .c = channels, .h = size[0], .w = size[1], .layout = layout, .dtype = dtype}};
            testing::expect_like_reference<cuda::PreprocessOperation>(
                spec, dtype, {.opaque = {{Slot::src, image_bytes(spec.src_bytes())}}, .offset = offset});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
