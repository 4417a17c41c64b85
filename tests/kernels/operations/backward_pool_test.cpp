// The gradient of pooling: oneDNN's against the reference, the reference against differences.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "gradient_check.h"
#include "kernels/operations/pool/pool.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using testing::Saved;
using testing::Sum;
using testing::tolerance_of;
using testing::Values;

// Dilated windows, padding that differs between the sides or that counts, results that are rounded up.
std::vector<Pool> general_pools(const TensorDesc& src) {
  std::vector<Pool> all;
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::average}) {
    const Pool three{.src = src, .kind = kind, .kernel_h = 3, .kernel_w = 3, .training = true};
    Pool dilated = three;
    dilated.stride_w = dilated.dilation_h = 2;
    dilated.dilation_w = 3;
    dilated.pad_h = dilated.pad_w = 1;
    dilated.pad_bottom = 2;
    dilated.pad_right = -1;
    Pool uneven = three;
    uneven.stride_h = uneven.stride_w = 2;
    uneven.pad_h = 2;
    uneven.pad_bottom = -1;
    uneven.pad_right = 2;
    Pool rounded = three;
    rounded.stride_h = rounded.stride_w = 3;
    rounded.pad_h = rounded.pad_w = 1;
    rounded.beyond_h = 1;
    all.insert(all.end(), {dilated, uneven, rounded});
    if (kind == Pool::Kind::average) {
      dilated.count_padding = uneven.count_padding = rounded.count_padding = true;
      all.insert(all.end(), {dilated, uneven, rounded});
    }
  }
  return all;
}

constexpr std::array kKinds{Pool::Kind::max, Pool::Kind::average};

std::string trace(const Pool& spec) {
  return fmt::format("{} of {} window {}x{} stride {}x{} pad {}x{}",
                     spec.kind == Pool::Kind::max ? "maximum" : "average", testing::trace(spec.src),
                     spec.kernel_h, spec.kernel_w, spec.stride_h, spec.stride_w, spec.pad_h, spec.pad_w);
}

// Overlapping, touching and separate windows, with and without padding, uneven, and global ones.
std::vector<Pool> pools(const TensorDesc& src) {
  std::vector<Pool> all;
  for (const Pool::Kind kind : kKinds) {
    const auto add = [&](std::array<std::int64_t, 2> kernel, std::array<std::int64_t, 2> stride,
                         std::array<std::int64_t, 2> pad, std::int64_t end = 0) {
      all.push_back({.src = src,
                     .kind = kind,
                     .kernel_h = kernel[0],
                     .kernel_w = kernel[1],
                     .stride_h = stride[0],
                     .stride_w = stride[1],
                     .pad_h = pad[0],
                     .pad_w = pad[1],
                     .pad_bottom = end,
                     .pad_right = end,
                     .training = true});
    };
    add({3, 3}, {2, 2}, {1, 1});
    add({2, 2}, {2, 2}, {0, 0});  // leaves the last row and column
    add({3, 3}, {1, 1}, {1, 1});
    add({2, 2}, {3, 3}, {0, 0});  // leaves rows and columns between
    add({3, 2}, {2, 1}, {0, 1});
    add({2, 2}, {1, 1}, {0, 0}, 1);  // as many outputs as inputs
    add({4, 4}, {2, 2}, {1, 1}, 2);
    add({src.h, src.w}, {1, 1}, {0, 0});
  }
  return all;
}

// The forward pass in training, then the backward pass with what it has saved.
std::pair<Values, Values> forward_and_backward(const Pool& spec, Dtype dtype, const char* implementation,
                                               const Values* src = nullptr) {
  Saved saved;
  const auto forward = make_operation(spec, testing::cpu(), implementation);
  const auto backward = make_operation(backward_of(spec), testing::cpu(), implementation);
  SCOPED_TRACE(backward->algorithm());
  Values result = testing::run_operation(
      *forward, src != nullptr ? *src : testing::inputs_for(*forward, dtype), Sum::apart, &saved);
  return {std::move(result),
          testing::run_operation(*backward, testing::inputs_for(*backward, dtype), Sum::apart, &saved)};
}

// In bf16 oneDNN adds up overlapping windows in diff_src itself and rounds after each: nine times with 3x3
// windows a step apart.
constexpr double overlapping_tolerance_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? tolerance_of(dtype) : 3 * tolerance_of(dtype);
}

class BackwardPool : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, BackwardPool, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(BackwardPool, LikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Pool& spec : pools(tensor)) {
      SCOPED_TRACE(trace(spec));
      const auto [expected_dst, expected_gradient] = forward_and_backward(spec, GetParam(), "reference");
      const auto [dst, gradient] = forward_and_backward(spec, GetParam(), "onednn");
      EXPECT_TRUE(testing::close_to(expected_dst, dst, tolerance_of(GetParam())));
      EXPECT_TRUE(testing::close_to(expected_gradient, gradient, overlapping_tolerance_of(GetParam())));
    }
  }
}

TEST_P(BackwardPool, OfGeneralWindowsLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Pool& spec : general_pools(tensor)) {
      SCOPED_TRACE(trace(spec));
      const auto [expected_dst, expected_gradient] = forward_and_backward(spec, GetParam(), "reference");
      const auto [dst, gradient] = forward_and_backward(spec, GetParam(), "");
      EXPECT_TRUE(testing::close_to(expected_dst, dst, tolerance_of(GetParam())));
      EXPECT_TRUE(testing::close_to(expected_gradient, gradient, overlapping_tolerance_of(GetParam())));
    }
  }
}

// Behind a ReLU many inputs are zero: the first of equal ones gets the gradient, everywhere.
TEST_P(BackwardPool, GivesTheFirstOfEqualInputs) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Pool& spec : pools(tensor)) {
      if (spec.kind != Pool::Kind::max) {
        continue;
      }
      SCOPED_TRACE(trace(spec));
      Values src{{Slot::src, std::vector<float>(static_cast<std::size_t>(tensor.elements()))}};
      fill_random(src[Slot::src], 3, 0);
      for (float& value : src[Slot::src]) {
        value = value > 0.7F ? 1.0F : 0.0F;
      }
      EXPECT_TRUE(testing::close_to(forward_and_backward(spec, GetParam(), "reference", &src).second,
                                    forward_and_backward(spec, GetParam(), "onednn", &src).second,
                                    overlapping_tolerance_of(GetParam())));
    }
  }
}

TEST(BackwardPoolReference, IsTheDerivative) {
  const TensorDesc tensor{.n = 2, .c = 2, .h = 7, .w = 6};
  // Whole numbers, all different: half a step either way leaves every maximum where it is.
  std::vector<float> src;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    src.push_back(static_cast<float>(i * 37 % tensor.elements() - 80));
  }
  std::vector<Pool> all = pools(tensor);
  std::ranges::copy(general_pools(tensor), std::back_inserter(all));
  for (const Pool& spec : all) {
    SCOPED_TRACE(trace(spec));
    const Pool backward = backward_of(spec);
    Values inputs = testing::inputs_for(*make_operation(backward, testing::cpu(), "reference"), Dtype::fp32);
    inputs[Slot::src] = src;
    Saved saved;
    testing::run_reference(spec, inputs, &saved);
    const std::vector<float> expected =
        testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 0.25F);
    EXPECT_LT(relative_error(testing::run_reference(backward, inputs, &saved).at(Slot::diff_src), expected),
              2e-5);
  }
}

// As torch.nn.functional.avg_pool1d and max_pool1d give it, with ceil_mode: the last window begins at 4, of
// the padding after it one position counts.
TEST(PoolWindows, DivideByWhatIsCounted) {
  Pool spec{.src = {.n = 1, .c = 1, .h = 1, .w = 6},
            .kind = Pool::Kind::average,
            .kernel_w = 4,
            .stride_w = 5,
            .pad_w = 1,
            .beyond_w = 1};
  const Values inputs{{Slot::src, {1, 2, 3, 4, 5, 7}}};
  const auto answers = [&](const char* implementation) {
    return testing::run_operation(*make_operation(spec, testing::cpu(), implementation), inputs)
        .at(Slot::dst);
  };
  EXPECT_THAT(answers("onednn"), ElementsAre(2, 6));
  EXPECT_THAT(answers("reference"), ElementsAre(2, 6));
  spec.count_padding = true;
  EXPECT_THAT(answers("loops"), ElementsAre(1.5F, 4));
  spec.kind = Pool::Kind::max;
  spec.count_padding = false;
  EXPECT_THAT(answers("onednn"), ElementsAre(3, 7));
}

TEST(BackwardPoolReference, GivesTheFirstOfEqualInputs) {
  const Pool spec{.src = {.n = 1, .c = 1, .h = 1, .w = 4}, .kernel_w = 3, .training = true};
  const Values inputs{{Slot::src, {5, 7, 7, 7}}, {Slot::diff_dst, {1, 10}}};
  Saved saved;
  testing::run_reference(spec, inputs, &saved);
  EXPECT_THAT(testing::run_reference(backward_of(spec), inputs, &saved).at(Slot::diff_src),
              ElementsAre(0, 11, 0, 0));
}

TEST(BackwardPoolSlots, OnlyTheMaximumInTrainingIsSaved) {
  const TensorDesc tensor{.n = 1, .c = 3, .h = 4, .w = 4};
  for (const char* implementation : {"reference", "onednn"}) {
    for (const Pool::Kind kind : kKinds) {
      for (const bool training : {false, true}) {
        const Pool spec{.src = tensor, .kind = kind, .kernel_h = 2, .kernel_w = 2, .training = training};
        const auto operation = make_operation(spec, testing::cpu(), implementation);
        EXPECT_EQ(operation->find(Slot::saved) != nullptr, training && kind == Pool::Kind::max);
      }
    }
  }
}

// Windows of different sizes that overlap, and an input repeated.
TEST(BackwardAdaptivePool, IsTheDerivative) {
  for (const auto& [height, width] : {std::pair{3, 2}, {7, 5}, {1, 1}, {5, 4}}) {
    const Pool spec{.src = {.n = 2, .c = 3, .h = 5, .w = 4},
                    .kind = Pool::Kind::adaptive,
                    .height = height,
                    .width = width};
    SCOPED_TRACE(fmt::format("5x4 to {}x{}", height, width));
    const Pool backward = backward_of(spec);
    Values inputs = testing::inputs_for(*make_operation(backward, testing::cpu()), Dtype::fp32);
    inputs.merge(testing::inputs_for(*make_operation(spec, testing::cpu()), Dtype::fp32));
    const std::vector<float> expected =
        testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 1.0F);
    EXPECT_LT(relative_error(testing::run_reference(backward, inputs).at(Slot::diff_src), expected), 1e-6);
  }
}

TEST(BackwardAdaptivePool, IsTheSameInEveryLayout) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    for (const TensorDesc& tensor : testing::tensors_of_every_layout(dtype)) {
      SCOPED_TRACE(testing::trace(tensor));
      Pool spec = backward_of(Pool{.src = tensor, .kind = Pool::Kind::adaptive, .height = 4, .width = 7});
      const Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu()), dtype);
      const Values answer = testing::run_reference(spec, inputs);
      spec.src.layout = Layout::nchw;
      spec.src.dtype = Dtype::fp32;
      EXPECT_TRUE(testing::close_to(testing::run_reference(spec, inputs), answer,
                                    dtype == Dtype::fp32 ? 0.0 : tolerance_of(dtype)));
    }
  }
}

TEST(BackwardPoolUnsupported, SaysWhy) {
  const Pool spec{.src = {.n = 1, .c = 1, .h = 2, .w = 2}, .kernel_h = 3, .kernel_w = 3};
  try {
    make_operation(backward_of(spec), testing::cpu());
    ADD_FAILURE() << "supported";
  } catch (const Unsupported& error) {
    expect_words(error.what());
  }
  EXPECT_THROW(make_operation(backward_of(Pool{.src = spec.src, .kind = Pool::Kind::adaptive, .width = 1}),
                              testing::cpu()),
               Unsupported);
}

}  // namespace
}  // namespace bench::kernels
