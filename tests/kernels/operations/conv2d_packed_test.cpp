// The packed convolution, where the processor has it, against the reference: shapes of several blocks of
// pixels, groups of panels and chunks of channels and taps, and pixels of which some or all taps are padding.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/operations/conv2d/conv2d.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Sum;

class PackedConv2dShapes : public ::testing::Test {
 protected:
  static const Implementation<Conv2d>& packed() {
    const auto& all = registry<Implementation<Conv2d>>().entries();
    return **std::ranges::find(all, "packed", [](const auto& entry) { return entry->name; });
  }
  static void compare(const Conv2d& spec) {
    if (const auto reason = packed().unsupported(spec, testing::cpu())) {
      GTEST_SKIP() << *reason;
    }
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    const testing::Values inputs = testing::inputs_for(*reference, Dtype::fp32);
    const testing::Values expected = testing::run_operation(*reference, inputs);
    for (const Sum sum : {Sum::apart, Sum::in_place}) {
      const auto operation = packed().make(spec, testing::cpu());
      EXPECT_TRUE(testing::close_to(expected, testing::run_operation(*operation, inputs, sum), 1e-5));
    }
  }
};

TEST_F(PackedConv2dShapes, ManyBlocksAndTaps) {
  compare({.batch = 3,
           .in_channels = 9,
           .height = 31,
           .width = 30,
           .out_channels = 24,
           .kernel_h = 3,
           .kernel_w = 5,
           .pad_h = 1,
           .pad_w = 2,
           .bias = true,
           .residual = true,
           .activation = Activation::relu});
}

TEST_F(PackedConv2dShapes, ManyChunksOfChannelsAndGroupsOfPanels) {
  compare({.batch = 2,
           .in_channels = 701,
           .height = 5,
           .width = 6,
           .out_channels = 437,
           .kernel_h = 2,
           .kernel_w = 1,
           .residual = true,
           .activation = Activation::clip(-0.4F, 0.7F)});
}

TEST_F(PackedConv2dShapes, ManyChunksOfTaps) {
  compare({.batch = 1,
           .in_channels = 67,
           .height = 9,
           .width = 8,
           .out_channels = 17,
           .kernel_h = 5,
           .kernel_w = 5,
           .stride_h = 2,
           .pad_h = 2,
           .pad_w = 2,
           .bias = true,
           .activation = Activation::relu6});
}

TEST_F(PackedConv2dShapes, DilationBeyondTheMap) {
  compare({.batch = 2,
           .in_channels = 8,
           .height = 4,
           .width = 7,
           .out_channels = 8,
           .kernel_h = 3,
           .kernel_w = 3,
           .pad_h = 6,
           .pad_w = 3,
           .dilation_h = 6,
           .dilation_w = 3});
}

TEST_F(PackedConv2dShapes, LeavesTheRestToOthers) {
  const Conv2d spec{
      .batch = 1, .in_channels = 8, .height = 4, .width = 4, .out_channels = 8, .kernel_h = 3, .kernel_w = 3};
  Conv2d pointwise = spec;
  pointwise.kernel_h = pointwise.kernel_w = 1;
  Conv2d curved = spec;
  curved.activation = Activation::silu;
  Conv2d grouped = spec;
  grouped.groups = 2;
  Conv2d training = spec;
  training.training = true;
  Conv2d planar = spec;
  planar.src_layout = Layout::nchw;
  for (const Conv2d& other : {pointwise, curved, grouped, training, planar}) {
    EXPECT_TRUE(packed().unsupported(other, testing::cpu()));
  }
}

}  // namespace
}  // namespace bench::kernels
