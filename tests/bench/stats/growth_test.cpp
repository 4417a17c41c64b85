#include "bench/stats/growth.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace bench {
namespace {

std::vector<MemorySample> sampled(std::int64_t steps, const std::function<double(std::int64_t)>& bytes) {
  std::vector<MemorySample> samples;
  for (std::int64_t step = 0; step <= steps; ++step) {
    samples.push_back({step, static_cast<std::int64_t>(bytes(step))});
  }
  return samples;
}

TEST(MemoryGrowth, ConstantMemoryIsSteady) {
  const auto growth = find_growth(sampled(100, [](std::int64_t) { return 5e8; }));
  ASSERT_TRUE(growth);
  EXPECT_FALSE(growth->grows);
  EXPECT_EQ(growth->bytes_per_step.value, 0);
  EXPECT_EQ(growth->steps_until(1000), std::nullopt);
}

TEST(MemoryGrowth, AConstantLeakIsMeasuredExactly) {
  const auto growth =
      find_growth(sampled(100, [](std::int64_t step) { return 5e8 + 4096.0 * static_cast<double>(step); }));
  ASSERT_TRUE(growth);
  EXPECT_TRUE(growth->grows);
  EXPECT_DOUBLE_EQ(growth->bytes_per_step.value, 4096);
  ASSERT_TRUE(growth->steps_until(40'960));
  EXPECT_DOUBLE_EQ(*growth->steps_until(40'960), 10);
  EXPECT_DOUBLE_EQ(*growth->steps_until(-1), 0);
}

TEST(MemoryGrowth, ALeakOfLessThanAPageAStepIsSeen) {
  // 300 bytes a step, seen in whole pages of 4096.
  const auto growth = find_growth(
      sampled(1000, [](std::int64_t step) { return 1e8 + static_cast<double>(step * 300 / 4096 * 4096); }));
  ASSERT_TRUE(growth);
  EXPECT_TRUE(growth->grows);
  EXPECT_NEAR(growth->bytes_per_step.value, 300, 30);
  EXPECT_LE(growth->bytes_per_step.ci95->low, 300);
  EXPECT_GE(growth->bytes_per_step.ci95->high, 300);
}

TEST(MemoryGrowth, ALeakIsSeenThroughNoise) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 64 * 1024);
  const auto growth = find_growth(sampled(
      1000, [&](std::int64_t step) { return 1e8 + 2048.0 * static_cast<double>(step) + noise(random); }));
  ASSERT_TRUE(growth);
  EXPECT_TRUE(growth->grows);
  EXPECT_NEAR(growth->bytes_per_step.value, 2048, 300);
}

TEST(MemoryGrowth, NoiseAloneIsSteadyAtMostOfAllSeeds) {
  int false_alarms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 64 * 1024);
    const auto growth = find_growth(sampled(200, [&](std::int64_t) { return 1e8 + noise(random); }));
    ASSERT_TRUE(growth);
    false_alarms += growth->grows ? 1 : 0;
  }
  EXPECT_LE(false_alarms, 10);  // 2.5 % by the interval's making
}

TEST(MemoryGrowth, OneJumpIsNoGrowth) {
  const auto growth =
      find_growth(sampled(200, [](std::int64_t step) { return step < 130 ? 1e8 : 1e8 + 2e6; }));
  ASSERT_TRUE(growth);
  EXPECT_FALSE(growth->grows);
}

TEST(MemoryGrowth, TheStartIsLeftOut) {
  const auto growth = find_growth(sampled(200, [](std::int64_t step) {
    return 1e8 + 1e6 * static_cast<double>(std::min<std::int64_t>(step, 30));
  }));
  ASSERT_TRUE(growth);
  EXPECT_FALSE(growth->grows);
  EXPECT_GE(growth->first_step, 40);
}

TEST(MemoryGrowth, TooFewSamplesTellNothing) {
  EXPECT_FALSE(find_growth({}));
  EXPECT_FALSE(find_growth(sampled(20, [](std::int64_t) { return 1.0; })));
  EXPECT_TRUE(find_growth(sampled(25, [](std::int64_t) { return 1.0; })));
}

}  // namespace
}  // namespace bench
