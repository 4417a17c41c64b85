#include "bench/model/curve.h"

#include <cmath>

#include <gmock/gmock.h>

#include "bench/model/step_limit.h"
#include "bench/model/step_setting.h"
#include "bench/stats/statistics.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

// Of products alone, 100 MB a sample.
NetworkTerms products_only() {
  NetworkTerms terms;
  terms.per_sample.flops[static_cast<std::size_t>(ProductClass::dense)] = 1e9;
  terms.per_step.launches = 100;
  terms.peak_bytes_per_sample = 100e6;
  return terms;
}

GpuModel t4() {
  return {testing::card("t4"), Framework::pytorch, testing::coefficients()};
}

std::vector<std::int64_t> batches_of(const Curve& curve) {
  std::vector<std::int64_t> batches;
  for (const CurvePoint& point : curve.points) {
    batches.push_back(point.batch);
  }
  return batches;
}

TEST(PredictedCurve, DoublesUpToWhatFits) {
  const Curve curve = predicted_curve(t4(), products_only(), {}, {});
  EXPECT_EQ(curve.problem, "");
  // 138 fill it: (15109 MiB - 0.9 GB) / (1.08 · 100 MB). The slack may be 1.12, the context larger.
  EXPECT_EQ(curve.limits.likely, 138);
  EXPECT_EQ(curve.limits.safe, 131);
  EXPECT_EQ(*curve.largest, 131);
  EXPECT_EQ(curve.limits.bound, 146);
  EXPECT_EQ(curve.limits.most, 146);
  EXPECT_THAT(batches_of(curve), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128));
  EXPECT_THAT(curve.beyond, ElementsAre());
}

TEST(PredictedCurve, SaturatesAtTheFirstBatchNearTheBest) {
  const Curve curve = predicted_curve(t4(), products_only(), {}, {});
  const double best = curve.points.back().per_s;
  EXPECT_GE(curve.at_saturation().per_s, 0.95 * best);
  ASSERT_GT(curve.saturation_index, 0U);
  EXPECT_LT(curve.points[curve.saturation_index - 1].per_s, 0.95 * best);
  const Interval interval = *curve.at_saturation().interval;
  EXPECT_LT(interval.low, curve.at_saturation().per_s);
  EXPECT_GT(interval.high, curve.at_saturation().per_s);
}

TEST(PredictedCurve, SaturatesAtABatchThatIsSafe) {
  Curve curve{.dtype = "fp16", .points = {}};
  for (const std::int64_t batch : {1, 2, 4, 8, 16}) {
    curve.points.push_back({.batch = batch, .per_s = 100 * static_cast<double>(batch), .is_predicted = true});
  }
  for (const auto& [largest, saturation] : {std::pair{5, 4}, {64, 16}}) {
    curve.largest = largest;
    complete_curve(curve, 0);
    EXPECT_EQ(curve.at_saturation().batch, saturation);
  }
}

TEST(PredictedCurve, NamesTheBatchesThatDoNotFit) {
  const Curve curve = predicted_curve(t4(), products_only(), {}, {100, 146, 147, 1000});
  EXPECT_THAT(batches_of(curve), ElementsAre(100, 146)) << "its likely memory is beyond, its least is not";
  EXPECT_THAT(curve.beyond, ElementsAre(147, 1000));
  const Curve none = predicted_curve(t4(), products_only(), {}, {500});
  expect_words(none.problem);
  EXPECT_TRUE(none.points.empty());
}

TEST(PredictedCurve, SaysWhatIsUnsupported) {
  EXPECT_EQ(predicted_curve(t4(), products_only(), {.dtype = Dtype::bf16}, {}).problem,
            "unsupported: Tesla T4 has no units for bf16");
}

// The mean of both sides would be less than the host's part, and leave nothing for the card's.
TEST(PredictedCurve, AGainIsAsUnsureAsTheLongerSideOfItsSteps) {
  CurvePoint slow{.per_s = 100, .interval = Interval{50, 110}, .is_predicted = true};
  const CurvePoint sure{.per_s = 200, .interval = Interval{200, 200}, .is_predicted = true};
  EXPECT_DOUBLE_EQ(half_width80(slow), std::log(2));
  const Ratio gain = predicted_gain(sure, slow);
  EXPECT_DOUBLE_EQ(gain.value, 2);
  EXPECT_NEAR(gain.low(), 1, 1e-9);
  EXPECT_NEAR(gain.high(), 4, 1e-9);
  slow.step.host_deviation = std::log(2) / kNormal80;
  EXPECT_NEAR(predicted_gain(sure, slow).high(), 4, 1e-9) << "the other's host errs not along";
}

TEST(PredictedCurve, WhatLimitsAStep) {
  const Curve curve = predicted_curve(t4(), products_only(), {}, {});
  EXPECT_EQ(longest_part(curve.points.front().step).limit, StepLimit::launch);
  EXPECT_EQ(longest_part(curve.points.back().step).limit, StepLimit::compute);
  NetworkTerms copies;
  copies.per_sample.bytes[static_cast<std::size_t>(Traffic::movement)] = 1e9;
  EXPECT_EQ(longest_part(t4().step(copies, {})).limit, StepLimit::memory);
  NetworkTerms small;
  small.per_step.launches = 10;
  const GpuModel fast_host(testing::card("t4"), Framework::pytorch, testing::coefficients(),
                           {.host_launch_s = 1e-6});
  EXPECT_EQ(longest_part(fast_host.step(small, {})).limit, StepLimit::implementation);
}

TEST(StepSetting, OfASpec) {
  const StepSetting setting =
      step_setting({.mode = "train", .dtype = Dtype::fp16, .batch = 8, .options = {{"optimizer", "adam"}}},
                   {.cast_whole = true});
  EXPECT_TRUE(setting.train);
  EXPECT_TRUE(setting.cast_whole);
  EXPECT_EQ(setting.update, UpdateRule::adam);
  EXPECT_EQ(setting.batch, 8);
  const StepSetting plain =
      step_setting({.mode = "infer", .dtype = Dtype::bf16, .options = {}}, {.cast_whole = true});
  EXPECT_FALSE(plain.train);
  EXPECT_FALSE(plain.cast_whole) << "only fp16 is cast whole";
  EXPECT_EQ(plain.update, UpdateRule::sgd);
  EXPECT_EQ(step_setting({.mode = "train", .options = {{"optimizer", "momentum"}}}, {}).update,
            UpdateRule::momentum);
}

}  // namespace
}  // namespace bench
