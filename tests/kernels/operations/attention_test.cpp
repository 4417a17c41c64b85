// Attention: the reference by hand and against central differences, oneDNN against it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "bench/error.h"
#include "gradient_check.h"
#include "kernels/operations/attention/attention.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Saved;
using testing::Sum;
using testing::Values;

class AttentionLayer : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, AttentionLayer, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

std::vector<Attention> shapes(Dtype dtype) {
  std::vector<Attention> all;
  for (const auto& [batch, sequence, heads, head_size] : {std::tuple{1, 16, 1, 16},
                                                          {2, 33, 3, 24},
                                                          {3, 7, 2, 5},
                                                          {1, 1, 1, 1},
                                                          {2, 1, 4, 8},
                                                          {1, 130, 2, 64}}) {
    all.push_back(
        {.batch = batch, .sequence = sequence, .heads = heads, .head_size = head_size, .dtype = dtype});
  }
  // As encoders and decoders have it: every position is seen; apart in memory; with fewer or more keys.
  for (const auto& [sequence, keys, heads, head_size, packed] : {std::tuple{33, 0, 3, 24, true},
                                                                 {7, 0, 2, 5, false},
                                                                 {5, 19, 3, 8, false},
                                                                 {40, 3, 1, 16, false},
                                                                 {1, 1, 1, 1, false},
                                                                 {130, 0, 2, 64, true},
                                                                 {300, 290, 1, 8, false}}) {
    all.push_back({.batch = 2,
                   .sequence = sequence,
                   .heads = heads,
                   .head_size = head_size,
                   .dtype = dtype,
                   .causal = false,
                   .scale = packed ? 0.0F : 0.3F,
                   .packed = packed,
                   .keys = keys});
  }
  all.push_back({.batch = 2, .sequence = 9, .heads = 2, .head_size = 4, .dtype = dtype, .packed = false});
  return all;
}

// Values large enough that scores tell positions apart; exact in both dtypes.
void widen(const Attention& spec, Values& inputs) {
  for (std::size_t i = 0; i < (spec.packed ? 1U : 3U); ++i) {
    for (float& value : inputs.at(kAttentionInputs.at(i))) {
      value *= 4;
    }
  }
}

std::vector<float> probabilities(const Attention& spec, const Saved& saved) {
  std::vector<float> p(static_cast<std::size_t>(spec.probabilities().elements()));
  load(spec.probabilities(), saved.data(), p);
  return p;
}

TEST_P(AttentionLayer, IsLikeItsReferenceInEveryPass) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const double tolerance = 2 * testing::tolerance_of(GetParam());
  for (Attention spec : shapes(GetParam())) {
    SCOPED_TRACE(fmt::format("batch {} sequence {} by {} heads {} of {}", spec.batch, spec.sequence,
                             spec.key_count(), spec.heads, spec.head_size));
    testing::expect_like_reference(spec, GetParam(), tolerance);

    spec.training = true;
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    const auto onednn = make_operation(spec, testing::cpu(), "onednn");
    Values inputs = testing::inputs_for(*reference, GetParam());
    widen(spec, inputs);
    Saved right;
    Saved saved;
    const Values expected = testing::run_operation(*reference, inputs, Sum::apart, &right);
    EXPECT_TRUE(
        testing::close_to(expected, testing::run_operation(*onednn, inputs, Sum::apart, &saved), tolerance));
    EXPECT_LT(relative_error(probabilities(spec, saved), probabilities(spec, right)), tolerance);

    spec.direction = Direction::backward;
    const auto reference_backward = make_operation(spec, testing::cpu(), "reference");
    inputs[Slot::diff_dst] = testing::inputs_for(*reference_backward, GetParam()).at(Slot::diff_dst);
    const auto backward = make_operation(spec, testing::cpu(), "onednn");
    EXPECT_TRUE(testing::close_to(testing::run_operation(*reference_backward, inputs, Sum::apart, &right),
                                  testing::run_operation(*backward, inputs, Sum::apart, &right), tolerance));
  }
}

// The implementation that keeps nothing for a gradient, by heads and by blocks of rows.
TEST(AttentionInference, AHeadAtATimeIsLikeTheReference) {
  for (Attention spec : shapes(Dtype::fp32)) {
    SCOPED_TRACE(fmt::format("batch {} sequence {} by {} heads {} of {}", spec.batch, spec.sequence,
                             spec.key_count(), spec.heads, spec.head_size));
    if (spec.causal) {
      EXPECT_THROW(make_operation(spec, testing::cpu(), "cpu"), Unsupported);
      continue;
    }
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    Values inputs = testing::inputs_for(*reference, Dtype::fp32);
    widen(spec, inputs);
    const auto fast = make_operation(spec, testing::cpu());
    EXPECT_EQ(fast->algorithm(), "a head at a time");
    EXPECT_TRUE(testing::close_to(testing::run_operation(*reference, inputs),
                                  testing::run_operation(*fast, inputs), 2e-6));
  }
}

// As a softmax must: what all scores have in common does not count, however large.
TEST(AttentionInference, TakesScoresOfEverySize) {
  const Attention spec{.sequence = 3, .heads = 1, .head_size = 1, .causal = false, .scale = 1};
  for (const float by : {1e-3F, 1.0F, 30.0F, 1e4F, 1e15F}) {
    const Values inputs{{Slot::src, {by, by, 1, by, 2 * by, 2, -by, 3 * by, 4}}};
    const Values expected = testing::run_reference(spec, inputs);
    const Values found = testing::run_operation(*make_operation(spec, testing::cpu(), "cpu"), inputs);
    EXPECT_TRUE(testing::close_to(expected, found, 2e-6)) << by;
  }
}

TEST(AttentionReference, RefusesWhatDoesNotFit) {
  EXPECT_TRUE((Attention{.sequence = 4, .packed = false, .keys = 5}).invalid());
  EXPECT_TRUE((Attention{.sequence = 4, .causal = false, .keys = 5}).invalid());
  EXPECT_FALSE((Attention{.sequence = 4, .causal = false, .packed = false, .keys = 5}).invalid());
  for (const char* implementation : {"reference", "onednn", "cpu"}) {
    EXPECT_THROW(
        make_operation(Attention{.sequence = 4, .causal = false, .keys = 5}, testing::cpu(), implementation),
        Unsupported);
  }
}

// A later position must not change what earlier ones see, nor its probabilities lie above the diagonal.
TEST_P(AttentionLayer, LooksBackOnly) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const Attention spec{.sequence = 9, .heads = 2, .head_size = 4, .training = true, .dtype = GetParam()};
  for (const char* implementation : {"reference", "onednn"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    Values inputs = testing::inputs_for(*operation, GetParam());
    Saved saved;
    const Values one = testing::run_operation(*operation, inputs, Sum::apart, &saved);
    const std::vector<float> p = probabilities(spec, saved);
    for (std::int64_t row = 0; row < 2 * 9; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < 9; ++j) {
        const float weight = p[static_cast<std::size_t>(row * 9 + j)];
        EXPECT_TRUE(j <= row % 9 ? weight > 0 : weight == 0) << row << " " << j;
        sum += static_cast<double>(weight);
      }
      EXPECT_NEAR(sum, 1, 0.02);
    }
    for (std::size_t i = 8 * 24; i < 9 * 24; ++i) {  // the last position's query, key and value
      inputs[Slot::src][i] = -inputs[Slot::src][i];
    }
    const Values other = testing::run_operation(*operation, inputs);
    for (std::size_t i = 0; i < 8 * 8; ++i) {
      EXPECT_EQ(one.at(Slot::dst)[i], other.at(Slot::dst)[i]);
    }
    EXPECT_NE(one.at(Slot::dst)[8 * 8], other.at(Slot::dst)[8 * 8]);
  }
}

// One sample's heads at a time: scratch does not grow with the batch, saved probabilities do.
TEST_P(AttentionLayer, MemoryFollowsTheFormula) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [training, direction] :
       {std::pair{false, Direction::forward}, {true, Direction::forward}, {false, Direction::backward}}) {
    const auto bytes = [&](std::int64_t batch, Slot slot) {
      const auto operation = make_operation(Attention{.batch = batch,
                                                      .sequence = 64,
                                                      .heads = 3,
                                                      .head_size = 8,
                                                      .training = training,
                                                      .direction = direction,
                                                      .dtype = GetParam()},
                                            testing::cpu(), "onednn");
      const SlotInfo* const info = operation->find(slot);
      return info == nullptr ? 0 : info->bytes;
    };
    EXPECT_EQ(bytes(1, Slot::workspace), bytes(7, Slot::workspace));
    EXPECT_EQ(bytes(7, Slot::saved),
              !training && direction == Direction::forward ? 0 : 7 * 3 * 64 * 64 * bytes_of(GetParam()));
  }
}

TEST(AttentionReference, ByHand) {
  // One head of one feature, two positions: rows of query, key, value.
  const Attention spec{.sequence = 2};
  const Values out = testing::run_reference(spec, {{Slot::src, {5, 0, 3, 1, std::log(3.0F), 7}}});
  // The second position scores 1·0 and 1·ln 3: weights 1/4 and 3/4.
  EXPECT_FLOAT_EQ(out.at(Slot::dst)[0], 3);
  EXPECT_FLOAT_EQ(out.at(Slot::dst)[1], 0.25F * 3 + 0.75F * 7);
}

// A number for each row in the place of its probabilities, and the same gradient.
TEST(AttentionReference, ByStatisticsIsLikeByProbabilities) {
  Attention spec{.batch = 2, .sequence = 5, .heads = 2, .head_size = 3, .training = true};
  Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
  Saved probabilities;
  const Values forward = testing::run_reference(spec, inputs, &probabilities);
  spec.direction = Direction::backward;
  inputs[Slot::diff_dst] =
      testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32).at(Slot::diff_dst);
  const Values right = testing::run_reference(spec, inputs, &probabilities);

  spec.statistics = true;
  spec.direction = Direction::forward;
  Saved statistics;
  EXPECT_TRUE(testing::close_to(forward, testing::run_reference(spec, inputs, &statistics), 0));
  ASSERT_EQ(statistics.size(), 2U * 2 * 5 * sizeof(float));
  // A head's first row sees one score, which its statistic is.
  float first = 0;
  std::memcpy(&first, statistics.data(), sizeof first);
  const std::vector<float>& src = inputs.at(Slot::src);
  const float score = (src[0] * src[6] + src[1] * src[7] + src[2] * src[8]) / std::sqrt(3.0F);
  EXPECT_NEAR(first, score, 1e-5);
  spec.direction = Direction::backward;
  inputs[Slot::dst] = forward.at(Slot::dst);
  EXPECT_TRUE(testing::close_to(right, testing::run_reference(spec, inputs, &statistics), 1e-5));
}

TEST(AttentionReference, OnlyTheReferenceOfTheCpuKeepsStatistics) {
  const Attention spec{.sequence = 5, .training = true, .statistics = true};
  EXPECT_THROW(make_operation(spec, testing::cpu()), Unsupported);
}

void expect_gradient_by_differences(Attention spec) {
  Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
  for (std::size_t i = 0; i < (spec.packed ? 1U : 3U); ++i) {
    for (float& value : inputs.at(kAttentionInputs.at(i))) {
      value *= 2;
    }
  }
  Saved saved;
  testing::run_reference(spec, inputs, &saved);
  spec.direction = Direction::backward;
  const auto backward = make_operation(spec, testing::cpu(), "reference");
  inputs[Slot::diff_dst] = testing::inputs_for(*backward, Dtype::fp32).at(Slot::diff_dst);
  const Values found = testing::run_operation(*backward, inputs, Sum::apart, &saved);
  spec.training = false;
  spec.direction = Direction::forward;
  for (std::size_t i = 0; i < (spec.packed ? 1U : 3U); ++i) {
    const auto expected =
        testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), kAttentionInputs.at(i), 3e-3F);
    EXPECT_LT(relative_error(found.at(kAttentionGradients.at(i)), expected), 1e-3) << i;
  }
}

TEST(AttentionReference, GradientAgreesWithCentralDifferences) {
  const Attention packed{.batch = 2, .sequence = 5, .heads = 2, .head_size = 3, .training = true};
  expect_gradient_by_differences(packed);
  Attention crossed = packed;
  crossed.causal = crossed.packed = false;
  crossed.keys = 4;
  crossed.scale = 0.4F;
  expect_gradient_by_differences(crossed);
}

}  // namespace
}  // namespace bench::kernels
