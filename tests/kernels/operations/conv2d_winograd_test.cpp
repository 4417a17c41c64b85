// Winograd convolutions: the answer, the budget they keep to, and what they count.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernels/operations/conv2d/conv2d.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Sum;

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

constexpr std::array kWinogradDirections{Conv2d::Direction::forward, Conv2d::Direction::backward_data,
                                         Conv2d::Direction::backward_weights};

// Four maps of 12×12 are work enough to pay for the transform of the kernels.
Conv2d training_spec(Conv2d::Direction direction) {
  Conv2d spec = winograd_spec(32, 12);
  spec.batch = 4;
  spec.bias = false;
  spec.activation = Activation::none;
  spec.direction = direction;
  spec.training = true;
  spec.extra = {.parameters = 0, .scratch = std::int64_t{1} << 30};
  return spec;
}

TEST(Conv2dWinograd, TrainsLikeTheReference) {
  int taken = 0;
  for (const Conv2d::Direction direction : kWinogradDirections) {
    for (const bool bias : {false, true}) {
      Conv2d spec = training_spec(direction);
      spec.bias = bias && direction != Conv2d::Direction::backward_data;
      SCOPED_TRACE(fmt::format("direction {}, bias {}", static_cast<int>(direction), spec.bias));
      taken += is_winograd(*make_operation(spec, testing::cpu(), "onednn")) ? 1 : 0;
      testing::expect_like_reference(spec, Dtype::fp32, 1e-4);
    }
  }
  if (taken == 0) {
    GTEST_SKIP() << "oneDNN has no Winograd on this processor";
  }
  EXPECT_EQ(taken, 6);
}

// The transform of 512·512 kernels costs more than it saves on 7×7 maps of few images.
TEST(Conv2dWinograd, TrainsDirectlyWithoutScratchOrWork) {
  for (const Conv2d::Direction direction : kWinogradDirections) {
    SCOPED_TRACE(fmt::format("direction {}", static_cast<int>(direction)));
    Conv2d spec = training_spec(direction);
    spec.extra = {};
    EXPECT_FALSE(is_winograd(*make_operation(spec, testing::cpu(), "onednn")));
    spec = training_spec(direction);
    spec.in_channels = spec.out_channels = 512;
    spec.height = spec.width = 7;
    EXPECT_FALSE(is_winograd(*make_operation(spec, testing::cpu(), "onednn")));
  }
}

// oneDNN would look through all tiles for a schedule: planning must stay quick at any batch.
TEST(Conv2dWinograd, TrainsDirectlyWhereTilesAreMany) {
  Conv2d spec = training_spec(Conv2d::Direction::backward_weights);
  spec.extra.scratch = std::int64_t{1} << 50;
  const bool winograd = is_winograd(*make_operation(spec, testing::cpu(), "onednn"));
  spec.batch = std::int64_t{1} << 16;  // of 9 tiles each
  EXPECT_FALSE(is_winograd(*make_operation(spec, testing::cpu(), "onednn")));
  if (!winograd) {
    GTEST_SKIP() << "oneDNN has no Winograd on this processor";
  }
}

// All three directions read or write the weights where one of them packed them.
TEST(Conv2dWinograd, SharesItsTrainedWeights) {
  const auto bytes_of = [](Conv2d::Direction direction, Slot slot, bool winograd) {
    Conv2d spec = training_spec(direction);
    spec.extra.scratch = winograd ? spec.extra.scratch : 0;
    return make_operation(spec, testing::cpu(), "onednn")->find(slot)->bytes;
  };
  const std::int64_t direct = bytes_of(Conv2d::Direction::forward, Slot::weights, false);
  EXPECT_EQ(bytes_of(Conv2d::Direction::forward, Slot::weights, true), direct);
  EXPECT_EQ(bytes_of(Conv2d::Direction::backward_data, Slot::weights, true), direct);
  EXPECT_EQ(bytes_of(Conv2d::Direction::backward_weights, Slot::diff_weights, true), direct);
}

}  // namespace
}  // namespace bench::kernels
