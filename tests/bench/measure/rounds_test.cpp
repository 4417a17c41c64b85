#include "bench/measure/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SampleStats stats_of(std::int64_t rounds, double low, double high) {
  SampleStats stats;
  stats.median_ns = 1000;
  stats.ci95_ns = {low, high};
  stats.rounds = rounds;
  return stats;
}

const SampleStats kNarrow = stats_of(3, 990, 1010);
const SampleStats kWide = stats_of(3, 980, 1005);

TEST(StopRule, StopsWhereTheIntervalIsNarrow) {
  const StopRule rule;
  EXPECT_TRUE(rule.precise(kNarrow));
  EXPECT_THAT(rule.flags(kNarrow), IsEmpty());
  EXPECT_FALSE(rule.precise(kWide));
  EXPECT_THAT(rule.flags(kWide), ElementsAre("noisy"));
}

TEST(StopRule, WantsBothSidesNarrow) {
  const StopRule rule;
  EXPECT_FALSE(rule.precise(stats_of(3, 989, 1000)));
  EXPECT_FALSE(rule.precise(stats_of(3, 1000, 1011)));
}

TEST(StopRule, WantsThreeRoundsHoweverNarrow) {
  const StopRule rule;
  EXPECT_FALSE(rule.precise(stats_of(2, 1000, 1000)));
  EXPECT_THAT(rule.flags(stats_of(2, 1000, 1000)), ElementsAre("few_rounds"));
}

TEST(StopRule, TrustsNoFewerRoundsThanItIsTold) {
  SampleStats stats = kNarrow;
  stats.rounds = 5;
  const StopRule rule{.trusted_rounds = 6};
  EXPECT_FALSE(rule.precise(stats));
  EXPECT_TRUE(rule.flags(stats).empty());  // where the budget ends, its interval is as narrow as was asked
  stats.rounds = 6;
  EXPECT_TRUE(rule.precise(stats));
}

TEST(StopRule, TakesOtherSettings) {
  const StopRule rule{.least_rounds = 5, .half_width = 0.05};
  EXPECT_FALSE(rule.precise(kWide));
  EXPECT_TRUE(rule.precise(stats_of(5, 960, 1040)));
}

TEST(SamplesForRepetition, FillTheSlice) {
  EXPECT_EQ(samples_for_repetition(1e6, 100e6), 100);
  EXPECT_EQ(samples_for_repetition(3e6, 10e6), 3);
  EXPECT_EQ(samples_for_repetition(100, 100e6), 256);
  EXPECT_EQ(samples_for_repetition(5e9, 100e6), 1);
  EXPECT_EQ(samples_for_repetition(5e9, 100e6, 256, 3), 3);
  EXPECT_EQ(samples_for_repetition(1e6, 100e6, 40), 40);
  EXPECT_EQ(samples_for_repetition(0, 100e6), 256);
  EXPECT_EQ(samples_for_repetition(1e-300, 3600e9), 256);
}

}  // namespace
}  // namespace bench
