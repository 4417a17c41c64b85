// The gradient of ReLU, ReLU6 and leaky ReLU: the CPU's loop against the reference, the reference against
// differences.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "gradient_check.h"
#include "kernels/operations/element.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAreArray;
using testing::Sum;
using testing::trace;
using testing::Values;

constexpr std::array kActivations{Activation::relu, Activation::relu6, Activation::leaky_relu};

Elementwise gradient_of(const TensorDesc& tensor, Activation activation, int summands = 1) {
  return backward_of(Elementwise{.tensor = tensor, .activation = activation, .summands = summands});
}

class BackwardActivation : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, BackwardActivation, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// Values from −8 to 8, so that relu6 cuts at both ends.
Values inputs_for(const Operation& operation, Dtype dtype) {
  Values inputs = testing::inputs_for(operation, dtype);
  for (float& value : inputs[Slot::dst]) {
    value *= 8;
  }
  return inputs;
}

TEST_P(BackwardActivation, LikeTheReferenceApartAndInPlace) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Activation activation : kActivations) {
      SCOPED_TRACE(trace(tensor));
      const Elementwise spec = gradient_of(tensor, activation);
      const auto reference = make_operation(spec, testing::cpu(), "reference");
      const auto openmp = make_operation(spec, testing::cpu(), "openmp");
      const Values inputs = inputs_for(*reference, GetParam());
      const Values expected = testing::run_operation(*reference, inputs);
      for (const Sum sum : {Sum::apart, Sum::in_place}) {
        EXPECT_TRUE(testing::close_to(expected, testing::run_operation(*openmp, inputs, sum), 0.0));
      }
    }
  }
}

TEST_P(BackwardActivation, AddsBothPartsOfASummedGradient) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  std::vector<TensorDesc> tensors = testing::tensors_of_every_layout(GetParam());
  tensors.push_back({.n = 2, .c = 33, .h = 29, .w = 31, .layout = Layout::nhwc, .dtype = GetParam()});
  for (const TensorDesc& tensor : tensors) {
    for (const Activation activation : kActivations) {
      SCOPED_TRACE(trace(tensor));
      const Elementwise spec = gradient_of(tensor, activation, 2);
      const auto reference = make_operation(spec, testing::cpu(), "reference");
      const auto fastest = make_operation(spec, testing::cpu());
      EXPECT_EQ(fastest->algorithm(), "openmp");
      const Values inputs = inputs_for(*reference, GetParam());
      const Values expected = testing::run_operation(*reference, inputs);
      for (const Sum sum : {Sum::apart, Sum::in_place}) {
        EXPECT_TRUE(testing::close_to(expected, testing::run_operation(*fastest, inputs, sum), 0.0));
      }
      // Both parts count, and alike.
      Values swapped = inputs;
      std::swap(swapped.at(Slot::diff_dst), swapped.at(Slot::src1));
      EXPECT_TRUE(testing::close_to(expected, testing::run_operation(*fastest, swapped), 0.0));
      Values alone = inputs;
      alone.at(Slot::src1).assign(alone.at(Slot::src1).size(), 0.0F);
      const Elementwise plain = gradient_of(tensor, activation);
      EXPECT_TRUE(
          testing::close_to(testing::run_operation(*make_operation(plain, testing::cpu(), "openmp"), alone),
                            testing::run_operation(*fastest, alone), 0.0));
      EXPECT_FALSE(testing::close_to(expected, testing::run_operation(*fastest, alone), 0.01));
    }
  }
}

// At a border the result does not tell whether the input was there or beyond: no gradient.
TEST_P(BackwardActivation, StopsAtTheBorders) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const auto rounded = [](float value) {
    return GetParam() == Dtype::fp32 ? value : Bf16::to(Bf16::from(value));
  };
  const float below_six = GetParam() == Dtype::fp32 ? std::nextafter(6.0F, 0.0F) : 5.96875F;
  const std::vector<float> dst{0.0F, -0.0F, 6.0F, below_six, 0x1p-126F, 1.0F, 7.0F, -1.0F};
  const std::vector<float> relu{0, 0, 3, 4, 5, 6, 7, 0};
  const std::vector<float> relu6{0, 0, 0, 4, 5, 6, 0, 0};
  const std::vector<float> leaky{rounded(0.1F * 1), rounded(0.1F * 2), 3, 4, 5, 6, 7, rounded(0.1F * 8)};
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    const TensorDesc tensor{.n = 1, .c = 2, .h = 2, .w = 2, .layout = layout, .dtype = GetParam()};
    SCOPED_TRACE(trace(tensor));
    const Values inputs{{Slot::dst, dst}, {Slot::diff_dst, {1, 2, 3, 4, 5, 6, 7, 8}}};
    for (const Activation activation : kActivations) {
      for (const char* implementation : {"reference", "openmp"}) {
        const auto operation =
            make_operation(gradient_of(tensor, activation), testing::cpu(), implementation);
        EXPECT_THAT(testing::run_operation(*operation, inputs).at(Slot::diff_src),
                    ElementsAreArray(activation == Activation::relu    ? relu
                                     : activation == Activation::relu6 ? relu6
                                                                       : leaky))
            << implementation;
      }
    }
  }
}

TEST(BackwardActivationReference, IsTheDerivative) {
  const TensorDesc tensor{.n = 1, .c = 3, .h = 2, .w = 3};
  // Quarters between the whole numbers: a step of 1/8 crosses no border.
  std::vector<float> src;
  for (std::size_t i = 0; i < 18; ++i) {
    src.push_back(static_cast<float>(i * 7 % 18) - 8.75F + 0.5F * static_cast<float>(i % 2));
  }
  for (const Activation activation : kActivations) {
    const Elementwise forward{.tensor = tensor, .activation = activation};
    const Elementwise backward = gradient_of(tensor, activation);
    Values inputs = testing::inputs_for(*make_operation(backward, testing::cpu(), "reference"), Dtype::fp32);
    inputs[Slot::src] = src;
    inputs[Slot::dst] = testing::run_reference(forward, inputs).at(Slot::dst);
    const std::vector<float> expected =
        testing::central_differences(forward, inputs, inputs.at(Slot::diff_dst), Slot::src, 0.125F);
    EXPECT_LE(relative_error(testing::run_reference(backward, inputs).at(Slot::diff_src), expected),
              activation == Activation::leaky_relu ? 1e-5 : 0.0);
  }
}

TEST(BackwardActivationUnsupported, SaysWhy) {
  try {
    make_operation(gradient_of({.n = 1, .c = 1}, Activation::none), testing::cpu());
    ADD_FAILURE() << "supported";
  } catch (const Unsupported& error) {
    expect_words(error.what());
  }
}

}  // namespace
}  // namespace bench::kernels
