// GELU and layer normalisation: the references by hand and against central differences, oneDNN against them.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "gradient_check.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/layer_norm/layer_norm.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;
using testing::Sum;
using testing::Values;

class SequenceLayer : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, SequenceLayer, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(SequenceLayer, GeluIsLikeItsReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const auto direction : {Direction::forward, Direction::backward}) {
      for (const Sum sum : {Sum::apart, Sum::in_place}) {
        SCOPED_TRACE(testing::trace(tensor));
        const Elementwise spec{.tensor = tensor, .activation = Activation::gelu, .direction = direction};
        const auto reference = make_operation(spec, testing::cpu(), "reference");
        Values inputs = testing::inputs_for(*reference, GetParam());
        for (float& value : inputs[Slot::src]) {
          value *= 8;  // into the flat tail and the straight part
        }
        for (const char* implementation : {"onednn", "openmp"}) {
          const auto tested = make_operation(spec, testing::cpu(), implementation);
          EXPECT_TRUE(testing::close_to(testing::run_operation(*reference, inputs),
                                        testing::run_operation(*tested, inputs, sum),
                                        testing::tolerance_of(GetParam())))
              << implementation;
        }
      }
    }
  }
}

TEST_P(SequenceLayer, LayerNormIsLikeItsReferenceInEveryPass) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [rows, width] : {std::pair{1, 16}, {3, 37}, {64, 768}, {5, 1}, {17, 300}, {2, 2}}) {
    for (const auto& [training, direction] :
         {std::pair{false, Direction::forward}, {true, Direction::forward}, {false, Direction::backward}}) {
      for (const Sum sum : {Sum::apart, Sum::in_place}) {
        SCOPED_TRACE(fmt::format("{}x{} training {} direction {}", rows, width, training,
                                 static_cast<int>(direction)));
        LayerNorm spec{
            .rows = rows, .width = width, .training = training, .direction = direction, .dtype = GetParam()};
        for (const auto& [scale, shift] : {std::pair{true, true}, {true, false}, {false, false}}) {
          spec.scale = scale;
          spec.shift = shift;
          testing::expect_like_reference(spec, GetParam(), 2 * testing::tolerance_of(GetParam()), sum);
        }
      }
    }
  }
}

TEST(GeluReference, ByHand) {
  const Elementwise spec{.tensor = {.n = 1, .c = 5}, .activation = Activation::gelu};
  const Values out = testing::run_reference(
      spec, {{Slot::src, {-10, -1, 0, 1, 10}}});  // torch's gelu(x, approximate='tanh')
  EXPECT_THAT(out.at(Slot::dst),
              Pointwise(FloatNear(1e-6F), std::vector<float>{0, -0.15880801F, 0, 0.84119199F, 10}));
}

TEST(GeluReference, GradientAgreesWithCentralDifferences) {
  Elementwise spec{
      .tensor = {.n = 2, .c = 19}, .activation = Activation::gelu, .direction = Direction::backward};
  Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
  for (float& value : inputs[Slot::src]) {
    value *= 3;
  }
  const Values found = testing::run_reference(spec, inputs);
  spec.direction = Direction::forward;
  const auto expected =
      testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 1e-3F);
  EXPECT_LT(relative_error(found.at(Slot::diff_src), expected), 1e-4);
}

TEST(LayerNormReference, ByHand) {
  const LayerNorm spec{.rows = 2, .width = 2, .training = true, .epsilon = 0};
  const Values out = testing::run_reference(
      spec, {{Slot::src, {1, 5, -3, -1}}, {Slot::scale, {2, 1}}, {Slot::shift, {0, 10}}});
  EXPECT_THAT(out.at(Slot::mean), ElementsAre(3, -2));
  EXPECT_THAT(out.at(Slot::variance), ElementsAre(4, 1));
  EXPECT_THAT(out.at(Slot::dst), ElementsAre(-2, 11, -2, 11));
}

TEST(LayerNormReference, GradientsAgreeWithCentralDifferences) {
  LayerNorm spec{.rows = 3, .width = 7, .training = true};
  Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
  Values statistics = testing::run_reference(spec, inputs);
  spec.direction = Direction::backward;
  const auto backward = make_operation(spec, testing::cpu(), "reference");
  inputs[Slot::diff_dst] = testing::inputs_for(*backward, Dtype::fp32).at(Slot::diff_dst);
  inputs[Slot::mean] = statistics[Slot::mean];
  inputs[Slot::variance] = statistics[Slot::variance];
  const Values found = testing::run_operation(*backward, inputs);
  spec.direction = Direction::forward;
  spec.training = false;
  for (const auto& [gradient, slot] : {std::pair{Slot::diff_src, Slot::src},
                                       {Slot::diff_scale, Slot::scale},
                                       {Slot::diff_shift, Slot::shift}}) {
    const auto expected = testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), slot, 3e-3F);
    EXPECT_LT(relative_error(found.at(gradient), expected), 1e-3) << name_of(slot);
  }
}

}  // namespace
}  // namespace bench::kernels
