// What cuDNN is asked for: tensors, keys, parts and reasons. Asks cuDNN nothing.
#include "kernels/backends/cudnn/graphs.h"
#include "tests/bench/support/golden_words.h"

#include <gmock/gmock.h>

#include <set>

namespace bench::kernels::cudnn {
namespace {

using ::testing::ElementsAre;

Conv2d oblong() {
  return {.batch = 2,
          .in_channels = 24,
          .height = 12,
          .width = 6,
          .out_channels = 16,
          .kernel_h = 1,
          .kernel_w = 5,
          .stride_h = 2,
          .stride_w = 1,
          .pad_h = 0,
          .pad_w = 2,
          .dilation_h = 3,
          .groups = 4,
          .dtype = Dtype::fp16};
}

TEST(CudnnConvolution, HasChannelsInnermost) {
  const ConvolutionTensors c = tensors_of(oblong());
  EXPECT_THAT(c.x.dims, ElementsAre(2, 24, 12, 6));
  EXPECT_THAT(c.x.strides, ElementsAre(12 * 6 * 24, 1, 6 * 24, 24));
  EXPECT_THAT(c.w.dims, ElementsAre(16, 24 / 4, 1, 5));
  EXPECT_THAT(c.w.strides, ElementsAre(5 * 6, 1, 5 * 6, 6));
  EXPECT_THAT(c.y.dims, ElementsAre(2, 16, 6, 6));
  EXPECT_THAT(c.y.strides, ElementsAre(6 * 6 * 16, 1, 6 * 16, 16));
}

TEST(CudnnConvolution, FusesOnlyBehindTheForwardPass) {
  Conv2d spec = oblong();
  spec.bias = spec.residual = true;
  spec.activation = Activation::relu;
  EXPECT_TRUE(fused(spec).bias && fused(spec).residual);
  EXPECT_EQ(fused(spec).activation, Activation::relu);
  EXPECT_FALSE(fuses(bare(spec)));
  spec = oblong();
  spec.direction = Direction::backward_weights;
  spec.bias = true;  // its gradient, which is no part of the convolution
  EXPECT_FALSE(fuses(fused(spec)));
}

// Whatever changes the work changes the key; what does not, does not.
TEST(CudnnConvolution, IsAKeyOfTheWork) {
  std::set<Conv2d> keys;
  const auto add = [&](auto change) {
    Conv2d spec = oblong();
    change(spec);
    return keys.insert(fused(spec)).second;
  };
  EXPECT_TRUE(add([](Conv2d&) {}));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.batch = 3; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.groups = 2; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.dilation_h = 1; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.dtype = Dtype::bf16; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.direction = Direction::backward_data; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.bias = true; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.residual = true; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.activation = Activation::relu; }));
  EXPECT_TRUE(add([](Conv2d& spec) { spec.activation = Activation::relu6; }));
  EXPECT_FALSE(add([](Conv2d& spec) { spec.training = true; }));
  EXPECT_FALSE(add([](Conv2d& spec) { spec.extra.scratch = 1; }));
}

TEST(CudnnConvolution, DescribesItself) {
  Conv2d spec = oblong();
  spec.bias = true;
  spec.activation = Activation::relu6;
  EXPECT_EQ(described(fused(spec)),
            "forward fp16 n2 c24 12x6 k16 1x5 stride 2x1 pad 0x2 dilation 3x1 groups 4 +bias+relu6");
}

TEST(CudnnConvolution, IsRefusedWithAReason) {
  Conv2d spec = oblong();
  EXPECT_EQ(unsupported(spec, 75), std::nullopt);
  spec.dtype = Dtype::bf16;
  expect_words(unsupported(spec, 75).value_or(""));
  EXPECT_EQ(unsupported(spec, 80), std::nullopt);
  spec.dtype = Dtype::tf32;
  expect_words(unsupported(spec, 75).value_or(""));
  spec.src_layout = Layout::nchw16c;
  expect_words(unsupported(spec, 80).value_or(""));
  spec.groups = 5;
  expect_words(unsupported(spec, 80).value_or(""));
}

}  // namespace
}  // namespace bench::kernels::cudnn
