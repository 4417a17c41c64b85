// oneDNN's convolution against the reference, over awkward shapes, layouts, dtypes and everything fused.
#include "kernels/operations/conv2d/conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include <fmt/format.h>

#include "conv2d_shapes.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::conv2d_shapes;
using testing::Conv2dShape;
using testing::Sum;

using LayoutPair = std::pair<Layout, Layout>;

std::vector<LayoutPair> layouts(const Conv2d& spec) {
  std::vector<LayoutPair> pairs{{Layout::nchw, Layout::nchw}, {Layout::nhwc, Layout::nhwc}};
  // A few channels, as in a network's first layer, stay nchw at the input.
  pairs.emplace_back(spec.in_channels < 4 ? Layout::nchw : Layout::nchw16c, Layout::nchw16c);
  return pairs;
}

std::string trace(const Conv2d& spec) {
  return fmt::format("{} -> {} bias {} residual {} activation {}", name_of(spec.src_layout),
                     name_of(spec.dst_layout), spec.bias, spec.residual, name_of(spec.activation.kind));
}

class Conv2dShapes : public ::testing::TestWithParam<std::tuple<Conv2dShape, Dtype>> {
 protected:
  void check(Conv2d::Direction direction, bool bias, bool training = false) {
    const Dtype dtype = std::get<1>(GetParam());
    BENCH_SKIP_UNSUPPORTED(dtype);
    Conv2d spec = std::get<0>(GetParam()).spec;
    spec.dtype = dtype;
    spec.direction = direction;
    spec.bias = bias;
    spec.training = training;
    for (const auto& [src, dst] : layouts(spec)) {
      spec.src_layout = src;
      spec.dst_layout = dst;
      SCOPED_TRACE(trace(spec));
      testing::expect_like_reference(spec, dtype, testing::tolerance_of(dtype));
    }
  }
};

TEST_P(Conv2dShapes, Forward) {
  check(Conv2d::Direction::forward, true);
}
TEST_P(Conv2dShapes, ForwardWithoutBias) {
  check(Conv2d::Direction::forward, false);
}
TEST_P(Conv2dShapes, BackwardData) {
  check(Conv2d::Direction::backward_data, false);
}
TEST_P(Conv2dShapes, BackwardWeights) {
  check(Conv2d::Direction::backward_weights, false);
}
TEST_P(Conv2dShapes, BackwardWeightsAndBias) {
  check(Conv2d::Direction::backward_weights, true);
}

// oneDNN's plain loops took most of a training step of networks with depthwise convolutions beyond 3×3, or
// with patches, and nearly all of LeNet's.
TEST_P(Conv2dShapes, NoneIsAPlainLoop) {
  const auto& [shape, dtype] = GetParam();
  BENCH_SKIP_UNSUPPORTED(dtype);
  Conv2d spec = shape.spec;
  spec.dtype = dtype;
  std::tie(spec.src_layout, spec.dst_layout) = layouts(spec).back();
  using enum Conv2d::Direction;
  for (const auto& [direction, training] :
       {std::pair{forward, false}, std::pair{forward, true}, std::pair{backward_data, true},
        std::pair{backward_weights, true}}) {
    spec.direction = direction;
    spec.training = training;
    EXPECT_THAT(make_operation(spec, testing::cpu())->algorithm(),
                ::testing::Not(::testing::StartsWith("ref")))
        << name_of(direction) << ", training " << training;
  }
}

// An optimizer goes through weights and gradients side by side: byte for byte they mean the same.
TEST_P(Conv2dShapes, TrainingPacksWeightsAlikeInAllDirections) {
  BENCH_SKIP_UNSUPPORTED(std::get<1>(GetParam()));
  check(Conv2d::Direction::forward, true, true);
  check(Conv2d::Direction::backward_data, false, true);
  check(Conv2d::Direction::backward_weights, true, true);

  Conv2d spec = std::get<0>(GetParam()).spec;
  spec.dtype = std::get<1>(GetParam());
  spec.training = true;
  for (const auto& [src, dst] : layouts(spec)) {
    spec.src_layout = src;
    spec.dst_layout = dst;
    std::vector<float> plain(static_cast<std::size_t>(spec.weight_count()));
    fill_random(plain, 1, 2);
    std::vector<std::byte> first;
    for (const auto& [direction, slot] : {std::pair{Conv2d::Direction::forward, Slot::weights},
                                          {Conv2d::Direction::backward_data, Slot::weights},
                                          {Conv2d::Direction::backward_weights, Slot::diff_weights}}) {
      spec.direction = direction;
      const auto operation = make_operation(spec, testing::cpu());
      operation->prepare();
      std::vector<std::byte> packed(static_cast<std::size_t>(operation->find(slot)->bytes));
      operation->pack(slot, plain, packed.data());
      if (first.empty()) {
        first = packed;
      }
      EXPECT_EQ(packed, first) << trace(spec);
    }
  }
}

TEST_P(Conv2dShapes, FusedBehindIt) {
  const auto& [shape, dtype] = GetParam();
  BENCH_SKIP_UNSUPPORTED(dtype);
  Conv2d spec = shape.spec;
  spec.dtype = dtype;
  for (const auto& [src, dst] : layouts(spec)) {
    spec.src_layout = src;
    spec.dst_layout = dst;
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu}) {
      for (const bool bias : {false, true}) {
        spec.activation = activation;
        spec.bias = bias;
        spec.residual = false;
        SCOPED_TRACE(trace(spec));
        testing::expect_like_reference(spec, dtype, testing::tolerance_of(dtype));
        spec.residual = true;
        testing::expect_like_reference(spec, dtype, testing::tolerance_of(dtype), Sum::apart);
        testing::expect_like_reference(spec, dtype, testing::tolerance_of(dtype), Sum::in_place);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conv2dShapes,
                         ::testing::Combine(::testing::ValuesIn(conv2d_shapes()),
                                            ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16)),
                         [](const auto& tested) {
                           return fmt::format("{}_{}", std::get<0>(tested.param).name,
                                              name_of(std::get<1>(tested.param)));
                         });

TEST(Conv2dMacs, CountsNoPadding) {
  // 3x3 with padding 1 on 7x7: each axis loses one tap at either edge, 7*3 - 2 = 19 of 21.
  const Conv2d spec{.batch = 2,
                    .in_channels = 8,
                    .height = 7,
                    .width = 7,
                    .out_channels = 4,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .pad_h = 1,
                    .pad_w = 1,
                    .groups = 2};
  EXPECT_EQ(spec.macs(), 2 * 4 * (8 / 2) * 19 * 19);
}

TEST(Conv2dMacs, EqualsCountingEveryTap) {
  for (const Conv2dShape& shape : conv2d_shapes()) {
    const Conv2d& spec = shape.spec;
    std::int64_t taps = 0;
    for (std::int64_t p = 0; p < spec.out_height(); ++p) {
      for (std::int64_t q = 0; q < spec.out_width(); ++q) {
        for (std::int64_t r = 0; r < spec.kernel_h; ++r) {
          for (std::int64_t s = 0; s < spec.kernel_w; ++s) {
            const std::int64_t h = p * spec.stride_h - spec.pad_h + r * spec.dilation_h;
            const std::int64_t w = q * spec.stride_w - spec.pad_w + s * spec.dilation_w;
            taps += h >= 0 && h < spec.height && w >= 0 && w < spec.width ? 1 : 0;
          }
        }
      }
    }
    EXPECT_EQ(spec.macs(), spec.batch * spec.out_channels * (spec.in_channels / spec.groups) * taps)
        << shape.name;
  }
}

TEST(Conv2dDescription, IsSoundForEveryShapeHere) {
  for (const Conv2dShape& shape : conv2d_shapes()) {
    EXPECT_EQ(shape.spec.invalid(), std::nullopt) << shape.name;
  }
}

}  // namespace
}  // namespace bench::kernels
