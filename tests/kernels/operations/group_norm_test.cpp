// Group and local response normalisation: the fast implementations against the reference, the reference
// against differences.
#include "kernels/operations/group_norm/group_norm.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "gradient_check.h"
#include "kernels/backends/onednn/primitives.h"
#include "kernels/operations/lrn/lrn.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using testing::Saved;
using testing::Sum;
using testing::tolerance_of;
using testing::Values;

// One group for all channels, some, groups that cut blocks of 16, and one for each.
std::vector<GroupNorm> group_norms(const TensorDesc& tensor) {
  std::vector<GroupNorm> all;
  for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{4}, tensor.c}) {
    if (tensor.c % groups == 0) {
      all.push_back({.tensor = tensor, .groups = groups});
      all.push_back({.tensor = tensor, .groups = groups, .affine = false, .epsilon = 0.1F});
    }
  }
  return all;
}

class GroupNorms : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, GroupNorms, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(GroupNorms, AllPassesAreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  std::vector<TensorDesc> tensors = testing::tensors_of_every_layout(GetParam());
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    tensors.push_back({.n = 3, .c = 24, .h = 40, .w = 41, .layout = layout, .dtype = GetParam()});
  }
  for (const TensorDesc& tensor : tensors) {
    for (GroupNorm spec : group_norms(tensor)) {
      SCOPED_TRACE(fmt::format("{} in {} groups", testing::trace(tensor), spec.groups));
      testing::expect_like_reference(spec, GetParam(), 2 * tolerance_of(GetParam()));
      spec.training = true;
      testing::expect_like_reference(spec, GetParam(), 2 * tolerance_of(GetParam()));
      const GroupNorm backward = backward_of(spec);
      testing::expect_like_reference(backward, GetParam(), 2 * tolerance_of(GetParam()));
      testing::expect_like_reference(backward, GetParam(), 2 * tolerance_of(GetParam()), Sum::in_place);
    }
  }
}

TEST(GroupNormReference, GradientsAreTheDerivatives) {
  for (const std::int64_t groups : {1, 2, 4}) {
    const GroupNorm spec{.tensor = {.n = 2, .c = 4, .h = 2, .w = 3, .layout = Layout::nchw},
                         .groups = groups,
                         .training = true};
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    inputs.merge(
        testing::inputs_for(*make_operation(backward_of(spec), testing::cpu(), "reference"), Dtype::fp32));
    const Values forward = testing::run_reference(spec, inputs);
    inputs[Slot::mean] = forward.at(Slot::mean);
    inputs[Slot::variance] = forward.at(Slot::variance);
    const Values gradients = testing::run_reference(backward_of(spec), inputs);
    for (const auto& [input, gradient] : {std::pair{Slot::src, Slot::diff_src},
                                          {Slot::scale, Slot::diff_scale},
                                          {Slot::shift, Slot::diff_shift}}) {
      EXPECT_LT(
          relative_error(gradients.at(gradient),
                         testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), input, 1e-2F)),
          1e-3)
          << name_of(input);
    }
  }
}

TEST(GroupNormReference, NormalisesEachGroup) {
  const GroupNorm spec{
      .tensor = {.n = 1, .c = 4, .h = 1, .w = 1}, .groups = 2, .affine = false, .epsilon = 0};
  for (const char* implementation : {"reference", "openmp"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*operation, {{Slot::src, {1, 3, 10, 30}}}).at(Slot::dst),
                ::testing::Pointwise(::testing::FloatNear(1e-6F), {-1.0F, 1.0F, -1.0F, 1.0F}));
  }
}

TEST(GroupNorm, RefusalsSayWhy) {
  expect_words(GroupNorm{.tensor = {.n = 1, .c = 6}, .groups = 4}.invalid().value());
}

// ---- local response normalisation

std::vector<Lrn> lrns(const TensorDesc& tensor) {
  return {{.tensor = tensor, .training = true},
          {.tensor = tensor, .alpha = 0.5F, .beta = 1, .training = true},
          {.tensor = tensor, .size = 3, .alpha = 0.9F, .beta = 0.5F, .k = 2, .training = true},
          {.tensor = tensor, .size = 7, .alpha = 0.5F, .training = true},
          {.tensor = tensor, .size = 1, .alpha = 0.5F, .training = true}};
}

TEST_P(GroupNorms, LrnIsLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Lrn& spec : lrns(tensor)) {
      SCOPED_TRACE(fmt::format("{} over {}", testing::trace(tensor), spec.size));
      Lrn inference = spec;
      inference.training = false;
      testing::expect_like_reference(inference, GetParam(), tolerance_of(GetParam()));
      if (onednn::faults().lrn_gradient_is_wrong && spec.size == 1 && tensor.layout != Layout::nhwc) {
        EXPECT_THROW(make_operation(backward_of(spec), testing::cpu()), Unsupported);
        continue;
      }
      const auto both = [&](const char* implementation) {
        const auto forward = make_operation(spec, testing::cpu(), implementation);
        const auto backward = make_operation(backward_of(spec), testing::cpu(), implementation);
        Saved saved;
        const Values inputs = testing::inputs_for(*backward, GetParam());
        testing::run_operation(*forward, inputs, Sum::apart, &saved);
        return testing::run_operation(*backward, inputs, Sum::apart, &saved);
      };
      EXPECT_TRUE(testing::close_to(both("reference"), both(""), 2 * tolerance_of(GetParam())));
    }
  }
}

TEST(LrnReference, GradientIsTheDerivative) {
  for (const Lrn& spec : lrns({.n = 2, .c = 7, .h = 1, .w = 2, .layout = Layout::nchw})) {
    const Values inputs =
        testing::inputs_for(*make_operation(backward_of(spec), testing::cpu(), "reference"), Dtype::fp32);
    EXPECT_LT(relative_error(
                  testing::run_reference(backward_of(spec), inputs).at(Slot::diff_src),
                  testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 1e-2F)),
              1e-4);
  }
}

// Two channels, both within reach: 3 / (1 + 5 / 5 · (9 + 16)) and 4 / 26.
TEST(LrnReference, DividesByItsNeighbours) {
  const Lrn spec{.tensor = {.n = 1, .c = 2}, .alpha = 5, .beta = 1};
  for (const char* implementation : {"reference", "onednn"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*operation, {{Slot::src, {3, 4}}}).at(Slot::dst),
                ::testing::Pointwise(::testing::FloatNear(1e-6F), {3 / 26.0F, 4 / 26.0F}));
  }
}

}  // namespace
}  // namespace bench::kernels
