#include "bench/stats/step_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "bench/stats/random.h"

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
  EXPECT_EQ(model->batches.size(), 11U);
}

// Winograd comes in with the batch: 7 GFLOP a sample at batches 1 and 2, 6 from 4 on, 1 ms a GFLOP. A line
// through all of them would take the difference for a fixed cost.
TEST(StepTime, FitsOnlyBatchesThatDoTheSameWork) {
  StepTimePoints points;
  for (std::int64_t batch = 32; batch >= 1; batch /= 2) {
    const double gflop = batch < 4 ? 7 : 6 + 0.01 * static_cast<double>(batch) / 32;
    points.push_back({batch, 0.5e6 + static_cast<double>(batch) * gflop * 1e6, gflop * 1e9});
  }
  const auto model = fit_step_time(points);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->batches, (std::vector<std::int64_t>{4, 8, 16, 32}));
  EXPECT_NEAR(model->t0_ns.value, 0.5e6, 0.1e6);
  EXPECT_NEAR(model->t_inf_per_s->value, 1e3 / 6, 1);
  for (StepTimePoint& point : points) {
    point.flops_per_sample = 0;  // not known
  }
  EXPECT_GT(fit_step_time(points)->t0_ns.value, 1e6);
}

TEST(StepTime, OfEqualGroupsTheLargerBatchesCount) {
  const StepTimePoints points{{1, 1, 7e9}, {2, 2, 7e9}, {8, 8, 6e9}, {16, 16, 6.05e9}, {4, 4, 1e9}};
  const std::vector<StepTimePoint> same = same_work(points);
  ASSERT_EQ(same.size(), 2U);
  EXPECT_EQ(same[0].batch, 8);
  EXPECT_EQ(same[1].batch, 16);
  EXPECT_TRUE(same_work(StepTimePoints{}).empty());
  EXPECT_EQ(same_work(StepTimePoints{{1, 1, -5}, {2, 1, 0}}).size(), 1U) << "a file may hold anything";
}

TEST(StepTime, TwoBatchesOfTheSameWorkAreTooFew) {
  EXPECT_FALSE(
      fit_step_time(StepTimePoints{{1, 7e6, 7e9}, {2, 14e6, 7e9}, {4, 25e6, 6.4e9}, {8, 49e6, 6e9}}));
  EXPECT_FALSE(fit_step_time(StepTimePoints{{1, 7e6, 7e9}, {2, 14e6, 7e9}, {2, 14e6, 7e9}}));
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
  EXPECT_FALSE(fit_step_time(StepTimePoints{{1, 3e6}, {2, 5e6}})) << "they always lie on a line";
  EXPECT_TRUE(fit_step_time(StepTimePoints{{1, 3e6}, {2, 5e6}, {3, 7e6}}));
}

}  // namespace
}  // namespace bench
