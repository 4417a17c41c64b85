// The functions of activation.h that are neither rectifiers nor the tanh form of GELU: the references by hand
// and against central differences, every implementation against them, alone and after a convolution.
#include "other_activations.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "gradient_check.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

using testing::Values;

class OtherActivations : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(All, OtherActivations, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

Values inputs_of(const Elementwise& spec, Dtype dtype) {
  Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), dtype);
  for (float& value : inputs[spec.forward() ? Slot::src : spec.slope_from()]) {
    value = testing::wants_positive(spec.activation) ? std::fabs(value) + 0.25F : 4 * value;
    // What is a result lies where results do.
    if (!spec.forward() && spec.slope_from() == Slot::dst) {
      value = apply(spec.activation, value);
    }
  }
  return inputs;
}

TEST_P(OtherActivations, AreLikeTheReferenceInEveryLayout) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Activation activation : testing::kOtherActivations) {
    for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        SCOPED_TRACE(fmt::format("{} {}", name_of(activation.kind), testing::trace(tensor)));
        const Elementwise spec{.tensor = tensor, .activation = activation, .direction = direction};
        const Values inputs = inputs_of(spec, GetParam());
        const auto expected =
            testing::run_operation(*make_operation(spec, testing::cpu(), "reference"), inputs);
        for (const char* implementation : {"onednn", "openmp"}) {
          const auto& known = *registry<Implementation<Elementwise>>().find(implementation);
          if (!known.unsupported(spec, testing::cpu())) {
            const auto tested = known.make(spec, testing::cpu());
            EXPECT_TRUE(testing::close_to(expected, testing::run_operation(*tested, inputs),
                                          2 * testing::tolerance_of(GetParam())))
                << implementation;
          }
        }
      }
    }
  }
}

// Where zero does not stay zero, the padding does.
TEST_P(OtherActivations, BehindAConvolutionAndAProductAreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Activation activation : testing::kOtherActivations) {
    if (!is_fusable(activation)) {
      continue;
    }
    SCOPED_TRACE(name_of(activation.kind));
    for (const Layout layout : {Layout::nhwc, Layout::nchw16c}) {
      Conv2d conv;
      conv.batch = 2;
      conv.in_channels = 16;
      conv.height = conv.width = 6;
      conv.out_channels = 21;
      conv.kernel_h = conv.kernel_w = 3;
      conv.bias = true;
      conv.activation = activation;
      conv.dtype = GetParam();
      conv.src_layout = conv.dst_layout = layout;
      testing::expect_like_reference(conv, GetParam(), 2 * testing::tolerance_of(GetParam()));
    }
    testing::expect_like_reference(Linear{.rows = 5,
                                          .inner = 33,
                                          .columns = 19,
                                          .bias = true,
                                          .packed = true,
                                          .activation = activation,
                                          .dtype = GetParam()},
                                   GetParam(), 2 * testing::tolerance_of(GetParam()));
  }
}

TEST(OtherActivationsReference, GradientsAreTheDifferencesOfValues) {
  for (const Activation activation : testing::kOtherActivations) {
    SCOPED_TRACE(name_of(activation.kind));
    const Elementwise forward{.tensor = {.n = 1, .c = 40}, .activation = activation};
    Values inputs = inputs_of(forward, Dtype::fp32);
    const Elementwise backward = backward_of(forward);
    Values given = testing::inputs_for(*make_operation(backward, testing::cpu(), "reference"), Dtype::fp32);
    given[backward.slope_from()] = backward.slope_from() == Slot::src
                                       ? inputs.at(Slot::src)
                                       : testing::run_reference(forward, inputs).at(Slot::dst);
    const auto expected =
        testing::central_differences(forward, inputs, given.at(Slot::diff_dst), Slot::src, 1e-3F);
    EXPECT_LT(relative_error(testing::run_reference(backward, given).at(Slot::diff_src), expected), 3e-3);
  }
}

TEST(OtherActivationsReference, ByHand) {
  EXPECT_FLOAT_EQ(apply(Activation::gelu_erf, 1), 0.84134475F);
  EXPECT_FLOAT_EQ(apply(Activation::sigmoid, 0), 0.5F);
  EXPECT_FLOAT_EQ(apply(Activation::silu, 1), 0.73105858F);
  EXPECT_FLOAT_EQ(apply(Activation::hard_swish, 1), 2.0F / 3);
  EXPECT_FLOAT_EQ(apply(Activation::hard_sigmoid(0.2F, 0.5F), 1), 0.7F);
  EXPECT_FLOAT_EQ(apply(Activation::elu, -1), -0.63212056F);
  EXPECT_FLOAT_EQ(apply(Activation::selu, -1), -1.1113307F);
  EXPECT_FLOAT_EQ(apply(Activation::softplus, 0), 0.69314718F);
  EXPECT_FLOAT_EQ(apply(Activation::mish, 1), 0.86509838F);
  EXPECT_FLOAT_EQ(apply(Activation::linear(-2, 0.5F), 3), -5.5F);
  EXPECT_FLOAT_EQ(apply(Activation::leaky(0.25F), -4), -1);
  EXPECT_FALSE(keeps_zero(Activation::sigmoid));
  EXPECT_FALSE(keeps_zero(Activation::reciprocal));
  EXPECT_TRUE(keeps_zero(Activation::silu));
}

}  // namespace
}  // namespace bench::kernels
