// Convolution as an implicit product of matrices on fibers: every tile, whole and ragged, with wide accesses
// and without.
#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include <fmt/format.h>

#include "kernels/operations/conv2d/implicit_gemm.cu"
#include "on_fibers.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/operations/conv2d_shapes.h"

namespace bench::kernels {
namespace {

using testing::Conv2dShape;
using testing::expect_like_reference;

Conv2d three_by_three(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width) {
  return {.batch = 2,
          .in_channels = in,
          .height = height,
          .width = width,
          .out_channels = out,
          .kernel_h = 3,
          .kernel_w = 3,
          .pad_h = 1,
          .pad_w = 1};
}

TEST(CudaImplicitGemm, IsLikeItsReferenceOnAwkwardShapes) {
  int tried = 0;
  for (const Conv2dShape& shape : testing::conv2d_shapes()) {
    if (shape.spec.groups == 1) {
      for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
        for (const std::int64_t offset :
             testing::few_under_thread_sanitizer(std::array{bytes_of(dtype), std::int64_t{0}})) {
          SCOPED_TRACE(fmt::format("{}, {}, {} off", shape.name, name_of(dtype), offset));
          Conv2d spec = shape.spec;
          spec.dtype = dtype;
          expect_like_reference<cuda::ImplicitGemmOperation>(spec, dtype, {.offset = offset});
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 20);
}

// Sizes that a single multiprocessor takes for many: fibers have one.
TEST(CudaImplicitGemm, IsLikeItsReferenceInEveryTile) {
  for (const Conv2dShape& shape : {Conv2dShape{"128 x 128, whole", three_by_three(8, 128, 16, 16)},
                                   {"128 x 128, ragged", three_by_three(24, 136, 13, 11)},
                                   {"128 x 128, odd channels", three_by_three(5, 131, 13, 11)},
                                   {"128 x 64, whole", three_by_three(16, 64, 16, 16)},
                                   {"128 x 64, ragged", three_by_three(8, 40, 19, 17)},
                                   {"128 x 64, odd channels", three_by_three(7, 33, 19, 17)},
                                   {"128 x 128, short of eights", three_by_three(20, 76, 13, 11)},
                                   {"64 x 64, whole", three_by_three(16, 64, 8, 8)}}) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
      SCOPED_TRACE(fmt::format("{}, {}", shape.name, name_of(dtype)));
      Conv2d spec = shape.spec;
      spec.dtype = dtype;
      expect_like_reference<cuda::ImplicitGemmOperation>(spec, dtype);
    }
  }
}

TEST(CudaImplicitGemm, PacksTermByTerm) {
  const Conv2d spec = three_by_three(2, 3, 4, 4);
  const auto operation = testing::on_fibers<cuda::ImplicitGemmOperation>(spec);
  std::vector<float> plain(static_cast<std::size_t>(spec.weight_count()));
  std::iota(plain.begin(), plain.end(), 0.0F);
  std::vector<float> packed(plain.size());
  operation->pack(Slot::weights, plain, packed.data());
  // Output 1's weight of channel 1 and tap 5: plain at (1·2 + 1)·9 + 5, packed at (5·2 + 1)·3 + 1.
  EXPECT_EQ(packed[34], 32);
  std::vector<float> again(plain.size());
  operation->unpack(Slot::weights, packed.data(), again);
  EXPECT_EQ(again, plain);
}

TEST(CudaImplicitGemm, SaysWhatItCannotDo) {
  const auto reason = [](auto change) {
    Conv2d spec = three_by_three(8, 8, 9, 9);
    change(spec);
    return cuda::ImplicitGemmOperation<testing::Fibers>::unsupported(spec).value_or("");
  };
  EXPECT_EQ(reason([](Conv2d&) {}), "");
  expect_words(reason([](Conv2d& spec) { spec.groups = 2; }));
  expect_words(reason([](Conv2d& spec) { spec.dtype = Dtype::tf32; }));
  expect_words(reason([](Conv2d& spec) { spec.training = true; }));
  expect_words(reason([](Conv2d& spec) { spec.direction = Conv2d::Direction::backward_data; }));
  expect_words(reason([](Conv2d& spec) { spec.bias = true; }));
  expect_words(reason([](Conv2d& spec) { spec.dst_layout = Layout::nchw; }));
}

}  // namespace
}  // namespace bench::kernels
