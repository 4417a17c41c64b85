// The gradient of batch normalisation: oneDNN's against the reference, the reference against differences.
#include <gtest/gtest.h>

#include "gradient_check.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

using testing::Sum;
using testing::tolerance_of;
using testing::trace;
using testing::Values;

class BackwardNorm : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, BackwardNorm, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(BackwardNorm, LikeTheReferenceApartAndInPlace) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    SCOPED_TRACE(trace(tensor));
    for (const Sum sum : {Sum::apart, Sum::in_place}) {
      testing::expect_like_reference(backward_of(BatchNorm{.tensor = tensor}), GetParam(),
                                     tolerance_of(GetParam()), sum);
    }
  }
}

TEST_P(BackwardNorm, OfOnePixelAndOfAnEpsilonThatMatters) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    for (const std::int64_t values : {2, 5}) {  // of each channel
      const TensorDesc pixel{.n = values, .c = 19, .layout = layout, .dtype = GetParam()};
      SCOPED_TRACE(trace(pixel));
      testing::expect_like_reference(backward_of(BatchNorm{.tensor = pixel, .epsilon = 0.5F}), GetParam(),
                                     tolerance_of(GetParam()));
    }
  }
}

// With the forward pass's own statistics, as in training.
TEST_P(BackwardNorm, FollowsTheForwardPass) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  std::vector<TensorDesc> tensors = testing::tensors_of_every_layout(GetParam());
  tensors.push_back({.n = 2, .c = 19, .dtype = GetParam()});  // two values of each channel, the fewest
  for (const TensorDesc& tensor : tensors) {
    SCOPED_TRACE(trace(tensor));
    const BatchNorm forward{.tensor = tensor, .training = true};
    const BatchNorm backward = backward_of(BatchNorm{.tensor = tensor});
    const auto both = [&](const char* implementation) {
      const auto first = make_operation(forward, testing::cpu(), implementation);
      const auto second = make_operation(backward, testing::cpu(), implementation);
      Values inputs = testing::inputs_for(*second, GetParam());
      inputs.merge(testing::inputs_for(*first, GetParam()));
      const Values noted = testing::run_operation(*first, inputs);
      inputs[Slot::mean] = noted.at(Slot::mean);
      inputs[Slot::variance] = noted.at(Slot::variance);
      return testing::run_operation(*second, inputs);
    };
    EXPECT_TRUE(testing::close_to(both("reference"), both("onednn"), tolerance_of(GetParam())));
  }
}

TEST(BackwardNormReference, IsTheDerivative) {
  const TensorDesc tensor{.n = 2, .c = 3, .h = 2, .w = 3};
  const BatchNorm forward{.tensor = tensor, .training = true, .epsilon = 0.125F};
  const BatchNorm backward = backward_of(BatchNorm{.tensor = tensor, .epsilon = 0.125F});
  Values inputs = testing::inputs_for(*make_operation(backward, testing::cpu(), "reference"), Dtype::fp32);
  inputs.merge(testing::inputs_for(*make_operation(forward, testing::cpu(), "reference"), Dtype::fp32));
  const Values noted = testing::run_reference(forward, inputs);
  inputs[Slot::mean] = noted.at(Slot::mean);
  inputs[Slot::variance] = noted.at(Slot::variance);

  const Values gradients = testing::run_reference(backward, inputs);
  const auto differences = [&](Slot slot, float step) {
    return testing::central_differences(forward, inputs, inputs.at(Slot::diff_dst), slot, step);
  };
  EXPECT_LT(relative_error(gradients.at(Slot::diff_scale), differences(Slot::scale, 1.0F)), 1e-6);
  EXPECT_LT(relative_error(gradients.at(Slot::diff_shift), differences(Slot::shift, 1.0F)), 1e-6);
  EXPECT_LT(relative_error(gradients.at(Slot::diff_src), differences(Slot::src, 0x1p-7F)), 3e-4);
}

}  // namespace
}  // namespace bench::kernels
