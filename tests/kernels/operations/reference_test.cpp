// The reference itself, against values worked out by hand and against its own finite differences: were it
// wrong, an implementation wrong in the same way would pass.
#include <gmock/gmock.h>

#include <cmath>

#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/pool/pool.h"
#include "kernels/operations/softmax/softmax.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using testing::Values;

template <class Spec>
Values reference(const Spec& spec, const Values& inputs) {
  return testing::run_operation(*make_operation(spec, testing::cpu(), "reference"), inputs);
}

constexpr TensorDesc kRow{.n = 1, .c = 1, .h = 1, .w = 4};

TEST(Reference, Conv2dOnAnImageOfNine) {
  // 1 2 3      a b: 1 2
  // 4 5 6      c d: 3 4
  // 7 8 9
  const Conv2d spec{.height = 3, .width = 3, .kernel_h = 2, .kernel_w = 2};
  const Values out =
      reference(spec, {{Slot::src, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {Slot::weights, {1, 2, 3, 4}}});
  // 1*1 + 2*2 + 4*3 + 5*4 = 37, and one step on every product grows by a weight: + 10.
  EXPECT_THAT(out.at(Slot::dst), ElementsAre(37, 47, 67, 77));
}

TEST(Reference, Conv2dWithEverything) {
  // Two channels in two groups, stride 2, padding 1: a 3x3 kernel over a 3x3 image sees its corners.
  const Conv2d spec{.in_channels = 2,
                    .height = 3,
                    .width = 3,
                    .out_channels = 2,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .stride_h = 2,
                    .stride_w = 2,
                    .pad_h = 1,
                    .pad_w = 1,
                    .groups = 2,
                    .bias = true,
                    .residual = true,
                    .activation = Activation::relu6,
                    .src_layout = Layout::nchw,
                    .dst_layout = Layout::nhwc};
  const std::vector<float> ones(9, 1.0F);
  Values inputs{{Slot::src, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0}},
                {Slot::bias, {-12, 1}},
                {Slot::src1, {0, 0, 0, -20, 0, -2, -3, 5}}};
  inputs[Slot::weights] = ones;
  inputs[Slot::weights].insert(inputs[Slot::weights].end(), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  // Group 0: the sums of the 2x2 corners are 12 16 / 24 28, less 12: 0 4 12 16, with the residual 0 4 12 -4.
  // Group 1: the middle pixel meets the kernel's corners 9 7 / 3 1, plus 1: 10 8 4 2, with the residual 10 6
  // 1 7.
  EXPECT_THAT(reference(spec, inputs).at(Slot::dst), ElementsAre(0, 4, 6, 0, 6, 6, 1, 6));
}

TEST(Reference, Conv2dDilated) {
  const Conv2d spec{.height = 1, .width = 5, .kernel_w = 2, .dilation_w = 3};
  EXPECT_THAT(reference(spec, {{Slot::src, {1, 2, 3, 4, 5}}, {Slot::weights, {10, 1}}}).at(Slot::dst),
              ElementsAre(14, 25));
}

TEST(Reference, LinearOfPackedWeights) {
  const Linear spec{
      .rows = 2, .inner = 3, .columns = 2, .bias = true, .packed = true, .activation = Activation::relu};
  const Values out = reference(
      spec, {{Slot::src, {1, 2, 3, -1, 0, 1}}, {Slot::weights, {1, 0, 2, 0, 1, 0}}, {Slot::bias, {1, -3}}});
  EXPECT_THAT(out.at(Slot::dst), ElementsAre(8, 0, 2, 0));
}

TEST(Reference, ReluAndRelu6) {
  const Values in{{Slot::src, {-1, 0.5, 6, 7}}};
  EXPECT_THAT(reference(Elementwise{.tensor = kRow, .activation = Activation::relu}, in).at(Slot::dst),
              ElementsAre(0, 0.5, 6, 7));
  EXPECT_THAT(reference(Elementwise{.tensor = kRow, .activation = Activation::relu6}, in).at(Slot::dst),
              ElementsAre(0, 0.5, 6, 6));
}

TEST(Reference, Add) {
  const Values in{{Slot::src, {1, 2, 3, 4}}, {Slot::src1, {-2, 2, 0.5, 9}}};
  EXPECT_THAT(
      reference(Elementwise{.tensor = kRow, .activation = Activation::relu, .summands = 2}, in).at(Slot::dst),
      ElementsAre(0, 4, 3.5, 13));
}

TEST(Reference, Pool) {
  const Values in{{Slot::src, {1, 2, 3, 4, 5, 6, 7, 8, 9}}};
  Pool spec{.src = {.n = 1, .c = 1, .h = 3, .w = 3},
            .kernel_h = 3,
            .kernel_w = 3,
            .stride_h = 2,
            .stride_w = 2,
            .pad_h = 1,
            .pad_w = 1};
  EXPECT_THAT(reference(spec, in).at(Slot::dst), ElementsAre(5, 6, 8, 9));
  spec.kind = Pool::Kind::average;  // of the four pixels in each window that are not padding
  EXPECT_THAT(reference(spec, in).at(Slot::dst), ElementsAre(3, 4, 6, 7));
}

TEST(Reference, MaxPoolOfNegativesIgnoresPadding) {
  const Pool spec{.src = {.n = 1, .c = 1, .h = 1, .w = 2}, .kernel_w = 3, .pad_w = 1};
  EXPECT_THAT(reference(spec, {{Slot::src, {-5, -7}}}).at(Slot::dst), ElementsAre(-5, -5));
}

TEST(Reference, Softmax) {
  const float e = std::exp(1.0F);
  const Softmax spec{.tensor = {.n = 2, .c = 2}};
  const Values out = reference(spec, {{Slot::src, {0, 1, 1000, 1000}}});
  EXPECT_THAT(out.at(Slot::dst),
              ElementsAre(FloatNear(1 / (1 + e), 1e-6F), FloatNear(e / (1 + e), 1e-6F), 0.5, 0.5));
}

TEST(Reference, BatchNormTraining) {
  const BatchNorm spec{.tensor = kRow, .training = true, .epsilon = 0.75F};
  const Values out = reference(spec, {{Slot::src, {1, 2, 3, 4}}, {Slot::scale, {2}}, {Slot::shift, {10}}});
  // Mean 2.5, variance 1.25, so the divisor is sqrt(2).
  EXPECT_THAT(out.at(Slot::mean), ElementsAre(2.5));
  EXPECT_THAT(out.at(Slot::variance), ElementsAre(1.25));
  const float step = std::sqrt(2.0F);
  EXPECT_THAT(out.at(Slot::dst),
              ElementsAre(FloatNear(10 - 1.5F * step, 1e-5F), FloatNear(10 - 0.5F * step, 1e-5F),
                          FloatNear(10 + 0.5F * step, 1e-5F), FloatNear(10 + 1.5F * step, 1e-5F)));
}

TEST(Reference, BatchNormInference) {
  const BatchNorm spec{.tensor = kRow, .activation = Activation::relu, .epsilon = 0.0F};
  const Values out = reference(spec, {{Slot::src, {1, 2, 3, 4}},
                                      {Slot::scale, {-1}},
                                      {Slot::shift, {0.5}},
                                      {Slot::mean, {2}},
                                      {Slot::variance, {4}}});
  EXPECT_THAT(out.at(Slot::dst), ElementsAre(1, 0.5, 0, 0));
}

// Σ dst · diff_dst is a number that depends on src, weights and bias; its derivatives are what backward
// gives. It is linear in each of them, so that central differences are exact but for rounding.
class Gradient : public ::testing::Test {
 protected:
  Gradient() {
    Conv2d gradient = spec_;
    gradient.direction = Conv2d::Direction::backward_weights;
    inputs_ = testing::inputs_for(*make_operation(spec_, testing::cpu(), "reference"), Dtype::fp32);
    const Values more =
        testing::inputs_for(*make_operation(gradient, testing::cpu(), "reference"), Dtype::fp32);
    inputs_[Slot::diff_dst] = more.at(Slot::diff_dst);
  }

  double objective(const Values& inputs) const {
    const Values out = reference(spec_, inputs);
    double sum = 0;
    for (std::size_t i = 0; i < out.at(Slot::dst).size(); ++i) {
      sum += static_cast<double>(out.at(Slot::dst)[i]) * inputs.at(Slot::diff_dst)[i];
    }
    return sum;
  }

  std::vector<float> differences(Slot slot) const {
    std::vector<float> result;
    for (std::size_t i = 0; i < inputs_.at(slot).size(); ++i) {
      Values up = inputs_;
      Values down = inputs_;
      up[slot][i] += 1.0F;
      down[slot][i] -= 1.0F;
      result.push_back(static_cast<float>((objective(up) - objective(down)) / 2));
    }
    return result;
  }

  Values backward(Conv2d::Direction direction) const {
    Conv2d spec = spec_;
    spec.direction = direction;
    spec.bias = direction == Conv2d::Direction::backward_weights;
    return reference(spec, inputs_);
  }

  Conv2d spec_{.batch = 2,
               .in_channels = 4,
               .height = 6,
               .width = 5,
               .out_channels = 6,
               .kernel_h = 3,
               .kernel_w = 2,
               .stride_h = 2,
               .stride_w = 1,
               .pad_h = 1,
               .pad_w = 1,
               .dilation_h = 1,
               .dilation_w = 2,
               .groups = 2,
               .bias = true};
  Values inputs_;
};

TEST_F(Gradient, OfSrc) {
  const Values out = backward(Conv2d::Direction::backward_data);
  EXPECT_LT(relative_error(out.at(Slot::diff_src), differences(Slot::src)), 1e-5);
}

TEST_F(Gradient, OfWeightsAndBias) {
  const Values out = backward(Conv2d::Direction::backward_weights);
  EXPECT_LT(relative_error(out.at(Slot::diff_weights), differences(Slot::weights)), 1e-5);
  EXPECT_LT(relative_error(out.at(Slot::diff_bias), differences(Slot::bias)), 1e-5);
}

}  // namespace
}  // namespace bench::kernels
