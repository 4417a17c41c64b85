// oneDNN's convolution against the reference, over awkward shapes, layouts, dtypes and everything fused.
#include "kernels/conv2d/conv2d.h"

#include <algorithm>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Sum;
using Direction = Conv2d::Direction;

struct Shape {
  const char* name;
  Conv2d spec;
};

std::vector<Shape> shapes() {
  return {
      {"pointwise", {.batch = 2, .in_channels = 64, .height = 7, .width = 5, .out_channels = 48}},
      {"pointwise_tails", {.batch = 3, .in_channels = 19, .height = 5, .width = 7, .out_channels = 37}},
      {"pointwise_stride",
       {.batch = 2,
        .in_channels = 32,
        .height = 9,
        .width = 9,
        .out_channels = 16,
        .stride_h = 2,
        .stride_w = 2}},
      {"three_by_three",
       {.batch = 2,
        .in_channels = 32,
        .height = 13,
        .width = 11,
        .out_channels = 32,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1}},
      {"tails",
       {.batch = 2,
        .in_channels = 17,
        .height = 9,
        .width = 10,
        .out_channels = 21,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1}},
      {"stride_leaves_a_row",
       {.batch = 2,
        .in_channels = 16,
        .height = 8,
        .width = 8,
        .out_channels = 32,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride_h = 2,
        .stride_w = 2,
        .pad_h = 1,
        .pad_w = 1}},
      {"stride_beyond_kernel",
       {.batch = 2,
        .in_channels = 16,
        .height = 13,
        .width = 13,
        .out_channels = 16,
        .kernel_h = 2,
        .kernel_w = 2,
        .stride_h = 3,
        .stride_w = 3}},
      {"oblong",
       {.batch = 1,
        .in_channels = 24,
        .height = 12,
        .width = 6,
        .out_channels = 16,
        .kernel_h = 1,
        .kernel_w = 5,
        .stride_h = 2,
        .stride_w = 1,
        .pad_h = 0,
        .pad_w = 2}},
      {"dilated",
       {.batch = 2,
        .in_channels = 16,
        .height = 15,
        .width = 14,
        .out_channels = 16,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 2,
        .pad_w = 3,
        .dilation_h = 2,
        .dilation_w = 3}},
      {"groups",
       {.batch = 2,
        .in_channels = 64,
        .height = 9,
        .width = 9,
        .out_channels = 32,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 2}},
      {"groups_tails",
       {.batch = 2,
        .in_channels = 15,
        .height = 7,
        .width = 7,
        .out_channels = 10,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 5}},
      {"depthwise",
       {.batch = 2,
        .in_channels = 32,
        .height = 9,
        .width = 9,
        .out_channels = 32,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 32}},
      {"depthwise_stride_tail",
       {.batch = 2,
        .in_channels = 37,
        .height = 10,
        .width = 9,
        .out_channels = 37,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride_h = 2,
        .stride_w = 2,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 37}},
      {"depthwise_multiplier",
       {.batch = 1,
        .in_channels = 6,
        .height = 8,
        .width = 8,
        .out_channels = 12,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 6}},
      {"one_pixel",
       {.batch = 4,
        .in_channels = 3,
        .height = 1,
        .width = 1,
        .out_channels = 5,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_h = 1,
        .pad_w = 1}},
      {"stem",
       {.batch = 1,
        .in_channels = 3,
        .height = 33,
        .width = 31,
        .out_channels = 16,
        .kernel_h = 7,
        .kernel_w = 7,
        .stride_h = 2,
        .stride_w = 2,
        .pad_h = 3,
        .pad_w = 3}},
  };
}

using LayoutPair = std::pair<Layout, Layout>;

std::vector<LayoutPair> layouts(const Conv2d& spec) {
  std::vector<LayoutPair> pairs{{Layout::nchw, Layout::nchw}, {Layout::nhwc, Layout::nhwc}};
  // A few channels, as in a network's first layer, stay nchw at the input.
  pairs.emplace_back(spec.in_channels < 4 ? Layout::nchw : Layout::nchw16c, Layout::nchw16c);
  return pairs;
}

std::string trace(const Conv2d& spec) {
  return fmt::format("{} -> {} bias {} residual {} activation {}", name_of(spec.src_layout),
                     name_of(spec.dst_layout), spec.bias, spec.residual, static_cast<int>(spec.activation));
}

class Conv2dShapes : public ::testing::TestWithParam<std::tuple<Shape, Dtype>> {
 protected:
  void check(Direction direction, bool bias, bool training = false) {
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
  check(Direction::forward, true);
}
TEST_P(Conv2dShapes, ForwardWithoutBias) {
  check(Direction::forward, false);
}
TEST_P(Conv2dShapes, BackwardData) {
  check(Direction::backward_data, false);
}
TEST_P(Conv2dShapes, BackwardWeights) {
  check(Direction::backward_weights, false);
}
TEST_P(Conv2dShapes, BackwardWeightsAndBias) {
  check(Direction::backward_weights, true);
}

// An optimizer goes through weights and gradients side by side: byte for byte they mean the same.
TEST_P(Conv2dShapes, TrainingPacksWeightsAlikeInAllDirections) {
  check(Direction::forward, true, true);
  check(Direction::backward_data, false, true);
  check(Direction::backward_weights, true, true);

  Conv2d spec = std::get<0>(GetParam()).spec;
  spec.dtype = std::get<1>(GetParam());
  spec.training = true;
  for (const auto& [src, dst] : layouts(spec)) {
    spec.src_layout = src;
    spec.dst_layout = dst;
    std::vector<float> plain(static_cast<std::size_t>(spec.weight_count()));
    fill_random(plain, 1, 2);
    std::vector<std::byte> first;
    for (const auto& [direction, slot] : {std::pair{Direction::forward, Slot::weights},
                                          {Direction::backward_data, Slot::weights},
                                          {Direction::backward_weights, Slot::diff_weights}}) {
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
    for (const Activation activation : {Activation::none, Activation::relu, Activation::relu6}) {
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
                         ::testing::Combine(::testing::ValuesIn(shapes()),
                                            ::testing::Values(Dtype::fp32, Dtype::bf16)),
                         [](const auto& tested) {
                           return fmt::format("{}_{}", std::get<0>(tested.param).name,
                                              name_of(std::get<1>(tested.param)));
                         });

Conv2d winograd_spec(std::int64_t channels, std::int64_t size) {
  return {.batch = 2,
          .in_channels = channels,
          .height = size,
          .width = size,
          .out_channels = channels,
          .kernel_h = 3,
          .kernel_w = 3,
          .pad_h = 1,
          .pad_w = 1,
          .bias = true,
          .activation = Activation::relu,
          .src_layout = Layout::nchw16c,
          .dst_layout = Layout::nchw16c,
          .extra = {.parameters = std::int64_t{1} << 30, .scratch = std::int64_t{1} << 30}};
}

bool is_winograd(const Operation& operation) {
  return operation.algorithm().find("wino") != std::string::npos;
}

TEST(Conv2dWinograd, IsLikeTheReference) {
  for (const std::int64_t channels : {16, 64}) {
    for (const std::int64_t size : {7, 12, 14}) {
      for (const bool residual : {false, true}) {
        Conv2d spec = winograd_spec(channels, size);
        spec.residual = residual;
        SCOPED_TRACE(fmt::format("{} channels, {}x{}, residual {}", channels, size, size, residual));
        testing::expect_like_reference(spec, Dtype::fp32, 1e-4, residual ? Sum::in_place : Sum::apart);
      }
    }
  }
}

TEST(Conv2dWinograd, IsTakenWithinItsBudgetOnly) {
  Conv2d spec = winograd_spec(64, 14);
  const auto rich = make_operation(spec, testing::cpu());
  if (!is_winograd(*rich)) {
    GTEST_SKIP() << "oneDNN has no Winograd on this processor";
  }
  const auto scratch = [](const Operation& operation) {
    const SlotInfo* workspace = operation.find(Slot::workspace);
    return workspace == nullptr ? 0 : workspace->bytes;
  };
  const ExtraBytes all = spec.extra;
  spec.extra = {};
  const auto lean = make_operation(spec, testing::cpu());
  EXPECT_FALSE(is_winograd(*lean));
  // Some Winograd may fit a smaller budget than the one taken first; none may pass it.
  for (const std::int64_t budget : {std::int64_t{1} << 16, std::int64_t{1} << 19, std::int64_t{1} << 22}) {
    spec.extra = {.parameters = budget, .scratch = all.scratch};
    auto operation = make_operation(spec, testing::cpu());
    EXPECT_LE(operation->find(Slot::weights)->bytes, lean->find(Slot::weights)->bytes + budget)
        << operation->algorithm();
    spec.extra = {.parameters = all.parameters, .scratch = budget};
    operation = make_operation(spec, testing::cpu());
    EXPECT_LE(scratch(*operation), std::max(scratch(*lean), budget)) << operation->algorithm();
  }
}

// Image by image, the scratch of one image serves all.
TEST(Conv2dWinograd, GoesThroughTheBatchInParts) {
  Conv2d spec = winograd_spec(128, 28);
  spec.batch = 1;
  const auto one = make_operation(spec, testing::cpu());
  if (!is_winograd(*one)) {
    GTEST_SKIP() << "oneDNN has no Winograd on this processor";
  }
  spec.batch = 3;
  const auto three = make_operation(spec, testing::cpu());
  EXPECT_EQ(three->find(Slot::workspace)->bytes, one->find(Slot::workspace)->bytes);
  EXPECT_DOUBLE_EQ(three->flops(), 3 * one->flops());
  testing::expect_like_reference(spec, Dtype::fp32, 1e-4, Sum::apart);
}

TEST(Conv2dWinograd, CountsItsOwnMultiplications) {
  int counted = 0;
  for (const std::int64_t batch : {1, 8}) {
    Conv2d spec = winograd_spec(64, 14);
    spec.batch = batch;
    const auto operation = make_operation(spec, testing::cpu());
    const double pairs = 2.0 * static_cast<double>(batch) * 64 * 64;
    if (operation->algorithm().find("wino_4x3") != std::string::npos) {
      // 14 rows take four tiles of 4, the last one half empty; a 6x6 product for each 4x4 tile.
      EXPECT_DOUBLE_EQ(operation->flops(), pairs * (4 * 4) * 36);
      ++counted;
    } else if (operation->algorithm().find("wino_2x3") != std::string::npos) {
      EXPECT_DOUBLE_EQ(operation->flops(), pairs * (7 * 7) * 16);
      ++counted;
    }
    spec.extra = {};
    EXPECT_DOUBLE_EQ(make_operation(spec, testing::cpu())->flops(), 2.0 * static_cast<double>(spec.macs()));
  }
  if (counted == 0) {
    GTEST_SKIP() << "oneDNN has no Winograd on this processor";
  }
}

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
  for (const Shape& shape : shapes()) {
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

TEST(Conv2dInvalid, NamesWhatIsWrong) {
  using ::testing::HasSubstr;
  using ::testing::Optional;
  for (const Shape& shape : shapes()) {
    EXPECT_EQ(shape.spec.invalid(), std::nullopt) << shape.name;
  }
  EXPECT_THAT((Conv2d{.in_channels = 64, .out_channels = 63, .groups = 3}.invalid()),
              Optional(HasSubstr("groups 3 does not divide in_channels 64")));
  EXPECT_THAT((Conv2d{.in_channels = 6, .out_channels = 4, .groups = 3}.invalid()),
              Optional(HasSubstr("groups 3 does not divide out_channels 4")));
  EXPECT_THAT((Conv2d{.batch = 0}.invalid()), Optional(HasSubstr("batch is 0")));
  EXPECT_THAT((Conv2d{.pad_h = -1}.invalid()), Optional(HasSubstr("pad_h is -1")));
  // One row short: integer division would make it one row of output.
  EXPECT_THAT((Conv2d{.height = 2, .width = 3, .kernel_h = 3, .kernel_w = 3, .stride_h = 2}.invalid()),
              Optional(HasSubstr("does not fit")));
  EXPECT_THAT((Conv2d{.direction = Direction::backward_data, .residual = true}.invalid()),
              Optional(HasSubstr("forward")));
  EXPECT_THAT((Conv2d{.batch = 1 << 20, .in_channels = 1 << 20, .height = 1 << 20}.invalid()),
              Optional(HasSubstr("2^40")));
  EXPECT_EQ((Conv2d{.batch = 1'000'000'000, .in_channels = 64, .height = 56, .width = 56}.invalid()),
            "--batch 1000000000 with --in-channels 64, --height 56 and --width 56 makes an input of "
            "200704000000000 elements; accepted are at most 2^40 = 1099511627776 in a tensor");
  EXPECT_THAT((Conv2d{.batch = 1 << 20, .height = 3, .width = 4, .out_channels = 1 << 20}.invalid()),
              Optional(HasSubstr("--out-channels 1048576, --height 3 and --width 4 makes an output (3x4")));
  EXPECT_THAT((Conv2d{.in_channels = 1 << 16,
                      .height = 1024,
                      .width = 1024,
                      .out_channels = 1 << 16,
                      .kernel_h = 1024,
                      .kernel_w = 1024}
                   .invalid()),
              Optional(HasSubstr("--kernel 1024 with --in-channels 65536")));
}

TEST(Conv2dUnsupported, SaysWhy) {
  for (const auto& [spec, reason] : {std::pair{Conv2d{.dtype = Dtype::fp16}, "no fp16"},
                                     {Conv2d{.dtype = Dtype::tf32}, "tf32"},
                                     {Conv2d{.groups = 2}, "groups 2"}}) {
    try {
      make_operation(spec, testing::cpu());
      ADD_FAILURE() << "made an operation that should be unsupported: " << reason;
    } catch (const Unsupported& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(reason));
    }
  }
}

}  // namespace
}  // namespace bench::kernels
