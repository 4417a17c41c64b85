#include "bench/predict/sharding.h"

#include <gtest/gtest.h>

#include "tests/bench/support/cells.h"

namespace bench {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr double kMilliseconds = 1e6;

CardsStep step_of(std::int64_t cards) {
  CardsStep step{.cards = cards,
                 .one_ns = 100 * kMilliseconds,
                 .replay = {.all_reduce_ns = 40 * kMilliseconds, .bytes = 400 * kMebi},
                 .peak = 2600 * kMebi,
                 .bucket = 25 * kMebi,
                 .largest_part = 80 * kMebi,
                 .loss80 = {1, 1.5}};
  step.memory[MemoryCategory::weights] = 400 * kMebi;
  step.memory[MemoryCategory::gradients] = 400 * kMebi;
  step.memory[MemoryCategory::optimizer] = 800 * kMebi;
  step.memory[MemoryCategory::activations] = 1000 * kMebi;
  return step;
}

TEST(Sharding, FreesAShareOfEachCategory) {
  const std::vector<ShardedPlan> plans = sharded_plans(step_of(4));
  ASSERT_EQ(plans.size(), 4U);
  EXPECT_EQ(plans[0].peak, 2000 * kMebi);
  EXPECT_EQ(plans[1].peak, 1725 * kMebi) << "three quarters of the gradients, but a bucket";
  EXPECT_EQ(plans[2].peak, 1505 * kMebi) << "and of the parameters, but the largest part";
  EXPECT_EQ(plans[2].passing, 105 * kMebi);
  EXPECT_EQ(plans[3].peak, 1425 * kMebi) << "without a share of the optimizer's state and of the gradients";
  EXPECT_EQ(plans[3].host, 300 * kMebi);
}

TEST(Sharding, ParametersAreWholeBeforeTheyAreSharedOut) {
  const std::vector<ShardedPlan> plans = sharded_plans(step_of(4));
  EXPECT_EQ(plans[0].at_start, 1000 * kMebi) << "all gradients, and a quarter of the state";
  EXPECT_EQ(plans[2].at_start, 700 * kMebi);
  EXPECT_EQ(plans[3].at_start, 400 * kMebi);
}

TEST(Sharding, SendsAReduceScatterAndOneGatherOrTwo) {
  const std::vector<ShardedPlan> plans = sharded_plans(step_of(4));
  EXPECT_EQ(plans[0].sent, 600 * kMebi);
  EXPECT_EQ(plans[1].sent, 600 * kMebi);
  EXPECT_EQ(plans[2].sent, 900 * kMebi);
  EXPECT_EQ(plans[3].over_bus, 200 * kMebi);
}

TEST(Sharding, SharesOfGradientsAreSummedInEachMicroBatch) {
  CardsStep step = step_of(4);
  const std::vector<ShardedPlan> once = sharded_plans(step);
  step.accumulate = 8;
  const std::vector<ShardedPlan> plans = sharded_plans(step);
  EXPECT_EQ(plans[0].sent, 600 * kMebi) << "whole gradients are summed once";
  EXPECT_EQ(plans[1].sent, 9 * 300 * kMebi) << "8 reduce-scatters and a gather";
  EXPECT_EQ(plans[2].sent, 24 * 300 * kMebi) << "8 reduce-scatters and 16 gathers";
  EXPECT_EQ(plans[3].sent, plans[1].sent);
  EXPECT_EQ(plans[3].over_bus, 9 * 100 * kMebi);
  EXPECT_DOUBLE_EQ(plans[0].step_ns->high, once[0].step_ns->high);
  EXPECT_DOUBLE_EQ(plans[1].step_ns->high, (100 + 4.5 * 40) * 1.5 * kMilliseconds);
  EXPECT_DOUBLE_EQ(plans[2].step_ns->high, (100 + 12 * 40) * 1.5 * kMilliseconds);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(plans[i].peak, once[i].peak) << "sums are kept in place";
  }
}

TEST(Sharding, StepsLieBetweenAllHiddenAndNothing) {
  CardsStep step = step_of(4);
  EXPECT_EQ(sharded_plans(step)[2].step_ns, (Interval{100 * kMilliseconds, 240 * kMilliseconds}))
      << "160 ms, times 1.5 at most";
  EXPECT_EQ(sharded_plans(step)[3].step_ns, std::nullopt);
  step.replay.all_reduce_ns = 200 * kMilliseconds;
  EXPECT_DOUBLE_EQ(sharded_plans(step)[0].step_ns->low, 200 * kMilliseconds)
      << "the link takes longer than the cards";
  step.on_cpu = true;
  EXPECT_EQ(sharded_plans(step).size(), 3U) << "the host's memory is the device's";
  EXPECT_DOUBLE_EQ(sharded_plans(step)[0].step_ns->low, 300 * kMilliseconds);
}

TEST(Sharding, EveryPlanSumsUpByCategory) {
  const CardsStep step = step_of(4);
  for (const ShardedPlan& plan : sharded_plans(step)) {
    EXPECT_EQ(plan.memory.total(), plan.peak) << plan.shared;
    EXPECT_EQ(plan.memory[MemoryCategory::activations], 1000 * kMebi) << plan.shared;
    EXPECT_EQ(plan.memory[MemoryCategory::workspace], plan.passing) << plan.shared;
  }
  const std::vector<ShardedPlan> plans = sharded_plans(step);
  EXPECT_EQ(plans[2].memory[MemoryCategory::weights], 100 * kMebi);
  EXPECT_EQ(plans[3].memory.fixed_part(), 400 * kMebi) << "the parameters alone";
}

TEST(Sharding, WhatIsNotKnownIsLeftOut) {
  CardsStep step = step_of(4);
  step.largest_part = 0;
  step.one_ns = 0;
  const std::vector<ShardedPlan> plans = sharded_plans(step);
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(plans[2].id, "optimizer-on-host");
  EXPECT_EQ(plans[0].step_ns, std::nullopt);
  const auto rows = sharing_rows(step);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].back(), "bus") << "no column of steps";
  EXPECT_EQ(texts_of(rows[4]), (std::vector<std::string>{"ZeRO-2, on the host (Offload)", "1.39 GiB",
                                                         "400 MiB", "300 MiB", "600 MiB", "200 MiB"}));
  EXPECT_EQ(sharing_rows(step_of(4))[0].back(), "step");
}

TEST(Sharding, SmallNetworksHoldNoMoreThanWhole) {
  CardsStep step = step_of(2);
  step.bucket = 1000 * kMebi;
  step.largest_part = 1000 * kMebi;
  const std::vector<ShardedPlan> plans = sharded_plans(step);
  EXPECT_EQ(plans[1].peak, plans[0].peak);
  EXPECT_EQ(plans[2].peak, plans[0].peak);
}

}  // namespace
}  // namespace bench
