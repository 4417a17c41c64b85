#include "bench/measure/step_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "bench/measure/random.h"

namespace bench {
namespace {

using StepTimePoints = std::vector<StepTimePoint>;

// t0 = 2 ms, T∞ = 500 samples/s; each time off by up to ±`noise` of itself.
StepTimePoints curve(double noise, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  StepTimePoints points;
  for (std::int64_t batch = 1; batch <= 1024; batch *= 2) {
    const double exact = 2e6 + static_cast<double>(batch) * 2e6;
    points.push_back({batch, exact * (1 + noise * (2 * unit_draw(engine) - 1))});
  }
  return points;
}

TEST(StepTime, FindsAnExactModel) {
  const auto model = fit_step_time(curve(0, 1));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->t0_ns.value, 2e6, 1e-3);
  EXPECT_NEAR(model->t_inf_per_s->value, 500, 1e-6);
  EXPECT_NEAR(model->max_relative_residual, 0, 1e-12);
  EXPECT_TRUE(model->t0_above_zero);
  EXPECT_TRUE(model->holds);
  EXPECT_TRUE(model->tested());
}

TEST(StepTime, IntervalsHoldTheTruthUnderNoise) {
  int held_t0 = 0;
  int held_throughput = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto model = fit_step_time(curve(0.03, seed));
    held_t0 += model->t0_ns.ci95->low <= 2e6 && 2e6 <= model->t0_ns.ci95->high ? 1 : 0;
    const Interval throughput = *model->t_inf_per_s->ci95;
    held_throughput += throughput.low <= 500 && 500 <= throughput.high ? 1 : 0;
    EXPECT_TRUE(model->t0_above_zero);
    EXPECT_LT(throughput.high - throughput.low, 50);
  }
  EXPECT_GE(held_t0, 180);
  EXPECT_GE(held_throughput, 180);
}

// Unweighted, 3 % of the largest step (61 ms) would drown a t0 of 2 ms.
TEST(StepTime, LargeBatchesDoNotOutvoteSmallOnes) {
  StepTimePoints points = curve(0, 1);
  points.back().step_ns *= 1.03;
  EXPECT_NEAR(fit_step_time(points)->t0_ns.value, 2e6, 0.05e6);
}

TEST(StepTime, AFixedCostOfNothingIsNotDistinguishable) {
  std::mt19937_64 engine(11);
  StepTimePoints points;
  for (std::int64_t batch = 1; batch <= 256; batch *= 2) {
    points.push_back({batch, static_cast<double>(batch) * 3e6 * (1 + 0.02 * (2 * unit_draw(engine) - 1))});
  }
  const auto model = fit_step_time(points);
  EXPECT_FALSE(model->t0_above_zero);
  EXPECT_TRUE(model->holds);
  EXPECT_NEAR(model->t_inf_per_s->value, 1e9 / 3e6, 10);
}

TEST(StepTime, ANegativeFixedCostIsNotAboveZero) {
  const auto model = fit_step_time(StepTimePoints{{1, 1e6}, {2, 3e6}, {4, 7e6}});
  EXPECT_NEAR(model->t0_ns.value, -1e6, 1);
  EXPECT_FALSE(model->t0_above_zero);
}

TEST(StepTime, SaysWhereTheModelDoesNotHold) {
  const auto model = fit_step_time(StepTimePoints{{1, 1e6}, {2, 1.1e6}, {4, 4e6}, {8, 4.2e6}, {16, 40e6}});
  EXPECT_GT(model->max_relative_residual, kModelTolerance);
  EXPECT_FALSE(model->holds);
}

TEST(StepTime, FallingTimesHaveNoThroughputLimit) {
  const auto model = fit_step_time(StepTimePoints{{1, 3e6}, {2, 2e6}, {4, 1e6}});
  EXPECT_FALSE(model->t_inf_per_s);
  EXPECT_FALSE(model->holds);
}

TEST(StepTime, AnUncertainSlopeHasNoInterval) {
  const auto model = fit_step_time(StepTimePoints{{1, 1e6}, {2, 3e6}, {3, 1.2e6}, {4, 3.1e6}});
  ASSERT_TRUE(model->t_inf_per_s);
  EXPECT_FALSE(model->t_inf_per_s->ci95);
}

TEST(StepTime, FewPointsSayLess) {
  EXPECT_FALSE(fit_step_time(StepTimePoints{}));
  EXPECT_FALSE(fit_step_time(StepTimePoints{{1, 1e6}}));
  const auto two = fit_step_time(StepTimePoints{{1, 3e6}, {2, 5e6}});
  ASSERT_TRUE(two);
  EXPECT_NEAR(two->t0_ns.value, 1e6, 1e-3);
  EXPECT_FALSE(two->t0_ns.ci95);
  EXPECT_FALSE(two->t_inf_per_s->ci95);
  EXPECT_FALSE(two->t0_above_zero);
  EXPECT_FALSE(two->tested());
}

// 1 GFLOP at 100 GFLOP/s: 10 ms. 20 MB of weights and 30 MB of activations at 10 GB/s: 5 ms.
const Work kWork{.flops = 1e9, .fixed_bytes = 20e6, .sample_bytes = 30e6, .launches = 53};
const Peaks kPeaks{.flops_per_s = 100e9, .bytes_per_s = 10e9, .source = ""};

TEST(StepLimit, ArithmeticExplainsTheStep) {
  const LimitReport report = find_limit(kWork, kPeaks, 12.5e6);
  EXPECT_EQ(report.limit, StepLimit::compute);
  EXPECT_DOUBLE_EQ(*report.compute_share, 0.8);
  EXPECT_DOUBLE_EQ(*report.memory_share, 0.4);
  EXPECT_DOUBLE_EQ(*report.fixed_bytes_ns, 2e6);
}

TEST(StepLimit, MovingDataExplainsTheStep) {
  const LimitReport report =
      find_limit(kWork, {.flops_per_s = 1e12, .bytes_per_s = 10e9, .source = ""}, 6.25e6);
  EXPECT_EQ(report.limit, StepLimit::memory);
  EXPECT_DOUBLE_EQ(*report.memory_share, 0.8);
}

TEST(StepLimit, NeitherExplainsHalf) {
  EXPECT_EQ(find_limit(kWork, kPeaks, 20.1e6).limit, StepLimit::overhead);
  EXPECT_EQ(find_limit(kWork, kPeaks, 20e6).limit, StepLimit::compute);
}

TEST(StepLimit, UnknownPeaksExplainNothing) {
  const LimitReport none = find_limit(kWork, {}, 12e6);
  EXPECT_EQ(none.limit, StepLimit::unknown);
  EXPECT_FALSE(none.compute_share);
  EXPECT_FALSE(none.memory_share);
  // Half of the step is explained by what is known; or it is not, and the other may.
  EXPECT_EQ(find_limit(kWork, {.bytes_per_s = 10e9, .source = ""}, 6e6).limit, StepLimit::memory);
  EXPECT_EQ(find_limit(kWork, {.bytes_per_s = 10e9, .source = ""}, 60e6).limit, StepLimit::unknown);
}

TEST(StepLimit, HasNames) {
  EXPECT_EQ(name_of(StepLimit::compute), "compute");
  EXPECT_EQ(name_of(StepLimit::memory), "memory");
  EXPECT_EQ(name_of(StepLimit::overhead), "launch/overhead");
  EXPECT_EQ(name_of(StepLimit::unknown), "unknown");
}

}  // namespace
}  // namespace bench
