// A linear layer and its gradients: the reference by hand and against central differences, oneDNN against it.
#include <gmock/gmock.h>

#include <array>

#include <fmt/format.h>

#include "kernels/operations/linear/linear.h"
#include "product_shapes.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using testing::Values;

constexpr std::array kLinearDirections{Linear::Direction::forward, Linear::Direction::backward_data,
                                       Linear::Direction::backward_weights};

Values reference(const Linear& spec, const Values& inputs) {
  return testing::run_operation(*make_operation(spec, testing::cpu(), "reference"), inputs);
}

class LinearLayer : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, LinearLayer, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(LinearLayer, IsLikeItsReferenceInEveryDirection) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [rows, inner, columns] : testing::kProductShapes) {
    for (const Linear::Direction direction : kLinearDirections) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(fmt::format("{}x{} to {} direction {} bias {}", rows, inner, columns,
                                 static_cast<int>(direction), bias));
        const Linear spec{.rows = rows,
                          .inner = inner,
                          .columns = columns,
                          .direction = direction,
                          .bias = bias,
                          .dtype = GetParam()};
        testing::expect_like_reference(spec, GetParam(), testing::tolerance_of(GetParam()));
      }
    }
  }
}

TEST_P(LinearLayer, StoresWeightsPlainInTheDtypeInEveryDirection) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Linear::Direction direction : kLinearDirections) {
    const Linear spec{.rows = 4, .inner = 37, .columns = 19, .direction = direction, .dtype = GetParam()};
    const auto operation = make_operation(spec, testing::cpu(), "onednn");
    operation->prepare();
    const Slot slot = direction == Linear::Direction::backward_weights ? Slot::diff_weights : Slot::weights;
    const SlotInfo* const info = operation->find(slot);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->role, direction == Linear::Direction::backward_weights ? Role::output : Role::parameter);
    EXPECT_EQ(info->plain_count, 37 * 19);
    ASSERT_EQ(info->bytes, 37 * 19 * bytes_of(GetParam()));

    std::vector<float> plain(37 * 19);
    fill_random(plain, 1, 0);
    const TensorDesc row{.n = 1, .c = 37 * 19, .dtype = GetParam()};
    std::vector<std::byte> expected(static_cast<std::size_t>(row.bytes()));
    store(row, plain, expected.data());
    std::vector<std::byte> packed(expected.size());
    operation->pack(slot, plain, packed.data());
    EXPECT_EQ(packed, expected);
    std::vector<float> again(plain.size());
    operation->unpack(slot, packed.data(), again);
    load(row, expected.data(), plain);
    EXPECT_EQ(again, plain);
  }
}

TEST_P(LinearLayer, TakesWeightGradientsWithoutACopyOfTheWeights) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const Linear spec{.rows = 4,
                    .inner = 2048,
                    .columns = 1000,
                    .direction = Linear::Direction::backward_weights,
                    .dtype = GetParam()};
  const auto operation = make_operation(spec, testing::cpu(), "onednn");
  const SlotInfo* const workspace = operation->find(Slot::workspace);
  EXPECT_LT(workspace == nullptr ? 0 : workspace->bytes, spec.weight_count());
}

TEST(LinearReference, ByHand) {
  Linear spec{.rows = 2, .inner = 3, .columns = 2, .bias = true};
  const Values inputs{{Slot::src, {1, 2, 3, 4, 5, 6}},
                      {Slot::weights, {1, 0, -1, 2, 1, 0.5}},
                      {Slot::bias, {10, 20}},
                      {Slot::diff_dst, {1, 2, -1, 3}}};
  EXPECT_THAT(reference(spec, inputs).at(Slot::dst), ElementsAre(8, 25.5, 8, 36));
  spec.direction = Linear::Direction::backward_data;
  EXPECT_THAT(reference(spec, inputs).at(Slot::diff_src), ElementsAre(5, 2, 0, 5, 3, 2.5));
  spec.direction = Linear::Direction::backward_weights;
  const Values gradients = reference(spec, inputs);
  EXPECT_THAT(gradients.at(Slot::diff_weights), ElementsAre(-3, -3, -3, 14, 19, 24));
  EXPECT_THAT(gradients.at(Slot::diff_bias), ElementsAre(0, 5));
}

// Σ dst · diff_dst is linear in src, weights and bias, so that central differences are exact but for
// rounding.
class LinearGradient : public ::testing::Test {
 protected:
  LinearGradient() {
    for (const Linear::Direction direction : kLinearDirections) {
      spec_.direction = direction;
      inputs_.merge(testing::inputs_for(*make_operation(spec_, testing::cpu(), "reference"), Dtype::fp32));
    }
    spec_.direction = Linear::Direction::forward;
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

  Values backward(Linear::Direction direction) const {
    Linear spec = spec_;
    spec.direction = direction;
    return reference(spec, inputs_);
  }

  Linear spec_{.rows = 3, .inner = 7, .columns = 5, .bias = true};
  Values inputs_;
};

TEST_F(LinearGradient, OfSrc) {
  const Values out = backward(Linear::Direction::backward_data);
  EXPECT_LT(relative_error(out.at(Slot::diff_src), differences(Slot::src)), 1e-5);
}

TEST_F(LinearGradient, OfWeightsAndBias) {
  const Values out = backward(Linear::Direction::backward_weights);
  EXPECT_LT(relative_error(out.at(Slot::diff_weights), differences(Slot::weights)), 1e-5);
  EXPECT_LT(relative_error(out.at(Slot::diff_bias), differences(Slot::bias)), 1e-5);
}

}  // namespace
}  // namespace bench::kernels
