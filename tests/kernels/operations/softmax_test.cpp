// Softmax and its logarithm over channels of every layout, and their gradients.
#include "kernels/operations/softmax/softmax.h"

#include <gmock/gmock.h>

#include <cmath>

#include "gradient_check.h"

namespace bench::kernels {
namespace {

using testing::tolerance_of;
using testing::Values;

std::vector<TensorDesc> softmax_tensors(Dtype dtype) {
  std::vector<TensorDesc> all = testing::tensors_of_every_layout(dtype);
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    for (const std::int64_t channels : {1, 10, 1000}) {
      all.push_back({.n = 3, .c = channels, .layout = layout, .dtype = dtype});
    }
  }
  return all;
}

// Results of a forward pass as the backward pass reads them; in the logarithm their exponentials add up to 1.
std::vector<float> results_of(const Softmax& spec, Dtype dtype) {
  Softmax forward = spec;
  forward.direction = Direction::forward;
  const auto reference = make_operation(forward, testing::cpu(), "reference");
  return testing::run_operation(*reference, testing::inputs_for(*reference, dtype)).at(Slot::dst);
}

class Softmaxes : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, Softmaxes, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(Softmaxes, BothPassesAreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : softmax_tensors(GetParam())) {
    for (const bool log : {false, true}) {
      SCOPED_TRACE(testing::trace(tensor));
      SCOPED_TRACE(log ? "log" : "");
      const Softmax spec{.tensor = tensor, .log = log, .training = true};
      testing::expect_like_reference(spec, GetParam(), tolerance_of(GetParam()));
      const Softmax backward = backward_of(spec);
      const auto reference = make_operation(backward, testing::cpu(), "reference");
      Values inputs = testing::inputs_for(*reference, GetParam());
      inputs[Slot::dst] = results_of(spec, GetParam());
      const Values expected = testing::run_operation(*reference, inputs);
      const auto fast = make_operation(backward, testing::cpu());
      if (tensor.c > 1) {  // of one channel it is zero, up to rounding
        EXPECT_TRUE(
            testing::close_to(expected, testing::run_operation(*fast, inputs), 2 * tolerance_of(GetParam())));
      }
    }
  }
}

TEST(SoftmaxReference, GradientIsTheDerivative) {
  for (const bool log : {false, true}) {
    const Softmax spec{
        .tensor = {.n = 2, .c = 3, .h = 2, .w = 1, .layout = Layout::nchw}, .log = log, .training = true};
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    inputs[Slot::diff_dst] = {1, -2, 3, 4, -5, 6, 7, 8, -9, 1, 2, 3};
    inputs[Slot::dst] = testing::run_reference(spec, inputs).at(Slot::dst);
    EXPECT_LT(relative_error(
                  testing::run_reference(backward_of(spec), inputs).at(Slot::diff_src),
                  testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 1e-2F)),
              1e-4);
  }
}

TEST(SoftmaxReference, IsOverTheChannelsOfEachPixel) {
  const Softmax spec{.tensor = {.n = 1, .c = 2, .h = 1, .w = 2, .layout = Layout::nchw}, .log = true};
  constexpr float kWithin = 2e-6F;  // oneDNN 3.7's logarithm with AVX2 is 1.4e-6 away
  for (const char* implementation : {"reference", "onednn"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    const float half = -std::log(2.0F);
    const float third = std::log(0.75F);
    EXPECT_THAT(testing::run_operation(*operation, {{Slot::src, {5, std::log(3.0F), 5, 0}}}).at(Slot::dst),
                ::testing::Pointwise(::testing::FloatNear(kWithin), {half, third, half, std::log(0.25F)}));
  }
}

}  // namespace
}  // namespace bench::kernels
