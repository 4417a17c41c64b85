// Convolutions in row tiles against the references of each, one after the other: row tiles that end within an
// image, parts that do, strides, uneven padding, and a residual in place.
#include "kernels/operations/conv2d/row_tiles.h"

#include <gtest/gtest.h>

#include <set>

#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Sum;
using testing::Values;

Conv2d convolution(const TensorDesc& src, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride = 1) {
  Conv2d conv;
  conv.batch = src.n;
  conv.in_channels = src.c;
  conv.height = src.h;
  conv.width = src.w;
  conv.out_channels = channels;
  conv.kernel_h = conv.kernel_w = kernel;
  conv.stride_h = conv.stride_w = stride;
  conv.pad_h = conv.pad_w = kernel / 2;
  conv.bias = true;
  conv.activation = Activation::relu6;
  return conv;
}

Conv2d depthwise(const TensorDesc& src, std::int64_t kernel, std::int64_t stride = 1) {
  Conv2d conv = convolution(src, src.c, kernel, stride);
  conv.groups = src.c;
  return conv;
}

void compare(const std::vector<Conv2d>& convolutions, std::int64_t parts, Sum sum = Sum::apart) {
  ConvRowTiles tiled(convolutions, parts, testing::cpu());
  const Values inputs = testing::inputs_for(tiled, Dtype::fp32);
  Values expected{{Slot::dst, inputs.at(Slot::src)}};
  for (std::size_t i = 0; i < convolutions.size(); ++i) {
    const auto reference = make_operation(convolutions[i], testing::cpu(), "reference");
    Values own{{Slot::src, expected.at(Slot::dst)}};
    for (const Slot parameter : {Slot::weights, Slot::bias}) {
      if (reference->find(parameter) != nullptr) {
        own[parameter] = inputs.at(ConvRowTiles::slot_of(i, parameter));
      }
    }
    if (convolutions[i].residual) {
      own[Slot::src1] = inputs.at(Slot::src1);
    }
    expected = testing::run_operation(*reference, own);
  }
  EXPECT_TRUE(testing::close_to(expected, testing::run_operation(tiled, inputs, sum), 1e-5));
}

TEST(ConvRowTiles, OfABottleneckWithAResidual) {
  const Conv2d wide = convolution({.n = 4, .c = 24, .h = 13, .w = 40}, 144, 1);
  const Conv2d middle = depthwise(wide.dst(), 3);
  Conv2d narrow = convolution(middle.dst(), 24, 1);
  narrow.activation = Activation::none;
  narrow.residual = true;
  for (const std::int64_t parts : {1, 3}) {  // three: the second one begins within an image
    compare({wide, middle, narrow}, parts);
  }
  compare({wide, middle, narrow}, 2, Sum::in_place);
}

TEST(ConvRowTiles, WithStrideAndUnevenPadding) {
  const Conv2d first = convolution({.n = 1, .c = 3, .h = 61, .w = 120}, 32, 3, 2);
  Conv2d second = depthwise(first.dst(), 5, 2);
  second.pad_h = 1;
  second.pad_bottom = 1;
  second.bias = false;
  compare({first, second}, 2);
  const Conv2d third = convolution(second.dst(), 20, 1, 2);  // leaves rows out
  compare({first, second, third}, 1);
}

TEST(ConvRowTiles, RefuseWhatTheyCannotCompute) {
  const Conv2d first = convolution({.n = 1, .c = 8, .h = 9, .w = 9}, 8, 3);
  const Conv2d second = convolution(first.dst(), 8, 3);
  EXPECT_TRUE(ConvRowTiles::unsupported(std::vector{first, second})) << "neither is depthwise";
  Conv2d summed = depthwise(first.dst(), 3);
  EXPECT_FALSE(ConvRowTiles::unsupported(std::vector{first, summed}));
  summed.residual = true;
  EXPECT_TRUE(ConvRowTiles::unsupported(std::vector{summed, second}));
  EXPECT_FALSE(ConvRowTiles::unsupported(std::vector{first, summed}));
  EXPECT_TRUE(ConvRowTiles::unsupported(std::vector{first, depthwise({.n = 1, .c = 8, .h = 8, .w = 9}, 1)}));
}

// Every row of every convolution once, where one part computes them all.
TEST(ConvRowTiles, ComputeNoRowTwice) {
  const Conv2d first = convolution({.n = 2, .c = 3, .h = 40, .w = 100}, 32, 3, 2);
  const Conv2d second = depthwise(first.dst(), 3);
  const std::vector<Conv2d> both{first, second};
  std::set<std::tuple<std::size_t, std::int64_t, std::int64_t>> computed;
  std::int64_t rows = 0;
  RowTileSteps(both, 1, 20'000).for_each(0, [&](const RowTileStep& step) {
    for (std::int64_t row = step.out.begin; row < step.out.end; ++row) {
      computed.emplace(step.convolution, step.image, row);
      ++rows;
    }
  });
  EXPECT_EQ(rows, 2 * (first.out_height() + second.out_height()));
  EXPECT_EQ(computed.size(), static_cast<std::size_t>(rows));
}

}  // namespace
}  // namespace bench::kernels
