// Products of matrices side by side: oneDNN's against the reference, their gradients against differences.
#include "kernels/operations/batched_matmul/batched_matmul.h"

#include <gmock/gmock.h>

#include <numeric>

#include "batched_matmul_cases.h"
#include "gradient_check.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using testing::Values;

class BatchedMatmuls : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, BatchedMatmuls, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(BatchedMatmuls, LikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const BatchedMatmul& spec : testing::batched_matmuls(GetParam())) {
    SCOPED_TRACE(testing::described(spec));
    testing::expect_like_reference(spec, GetParam(), testing::tolerance_of(GetParam()));
  }
}

// Two matrices of one operand that both meet the other's only one, which is given as its transpose.
TEST(BatchedMatmul, RepeatsTheOnlyMatrix) {
  const BatchedMatmul spec{
      .a_leading = {1, 1, 1, 2}, .rows = 1, .inner = 2, .columns = 3, .transpose_b = true, .scale = 10};
  const Values inputs{{Slot::src, {1, 2, 3, 4}}, {Slot::src1, {1, 0, 0, 1, 1, 1}}};
  for (const char* implementation : {"reference", "onednn"}) {
    EXPECT_THAT(
        testing::run_operation(*make_operation(spec, testing::cpu(), implementation), inputs).at(Slot::dst),
        ::testing::ElementsAre(10, 20, 30, 30, 40, 70))
        << implementation;
  }
}

// Sums a gradient over the matrices for which its operand was repeated.
std::vector<float> summed(const std::vector<float>& gradient, const BatchedMatmul& spec,
                          std::size_t operand) {
  const auto& own = operand == 0 ? spec.a_leading : spec.b_leading;
  const auto leading = spec.leading();
  const std::int64_t matrix = operand == 0 ? spec.rows * spec.inner : spec.inner * spec.columns;
  std::vector<float> sums(static_cast<std::size_t>((operand == 0 ? spec.src() : spec.src1()).elements()));
  for (std::int64_t at = 0; at < spec.matrices(); ++at) {
    std::int64_t place = 0;
    std::int64_t step = 1;
    std::int64_t rest = at;
    for (std::size_t i = leading.size(); i-- > 0;) {
      place += own[i] > 1 ? rest % leading[i] * step : 0;
      step *= own[i];
      rest /= leading[i];
    }
    for (std::int64_t i = 0; i < matrix; ++i) {
      sums[place * matrix + i] += gradient[at * matrix + i];
    }
  }
  return sums;
}

TEST(BatchedMatmul, GradientsAreTheDerivatives) {
  for (const BatchedMatmul& spec : testing::batched_matmuls(Dtype::fp32)) {
    SCOPED_TRACE(testing::described(spec));
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    std::vector<float> diff(static_cast<std::size_t>(spec.dst().elements()));
    fill_random(diff, 1, 99);
    for (const std::size_t operand : {0, 1}) {
      const MatmulGradient gradient = gradient_of(spec, operand);
      const auto values = [&](MatmulGradient::Operand which) {
        return which == MatmulGradient::Operand::src    ? inputs.at(Slot::src)
               : which == MatmulGradient::Operand::src1 ? inputs.at(Slot::src1)
                                                        : diff;
      };
      const Values given{{Slot::src, values(gradient.first)}, {Slot::src1, values(gradient.second)}};
      const std::vector<float> found = testing::run_reference(gradient.product, given).at(Slot::dst);
      const std::vector<float> expected =
          testing::central_differences(spec, inputs, diff, kSources[operand], 1.0F);
      EXPECT_LT(relative_error(summed(found, spec, operand), expected), 1e-5) << operand;
    }
  }
}

TEST(BatchedMatmul, MergesWhatIsRepeatedAlike) {
  BatchedMatmul spec{.a_leading = {2, 3, 4, 5}, .b_leading = {2, 3, 1, 1}, .rows = 7};
  EXPECT_EQ(merged(spec).leading.size(), 1U);
  EXPECT_EQ(merged(spec).leading[0].extent, 6);
  EXPECT_EQ(merged(spec).rows, 4 * 5 * 7);
  spec.transpose_a = true;
  EXPECT_EQ(merged(spec).leading.size(), 2U);
  EXPECT_EQ(merged(spec).rows, 7);
}

TEST(BatchedMatmul, RefusalsSayWhy) {
  expect_words(BatchedMatmul{.a_leading = {1, 1, 1, 2}, .b_leading = {1, 1, 1, 3}}.invalid().value());
  expect_words(BatchedMatmul{.inner = 0}.invalid().value());
}

}  // namespace
}  // namespace bench::kernels
