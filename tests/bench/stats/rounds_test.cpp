#include "bench/stats/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/stats/statistics.h"
#include "tools/gate/stopping.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SampleStats stats_of(std::int64_t rounds, double low, double high, std::string kind = "rounds") {
  SampleStats stats;
  stats.median_ns = 1000;
  stats.ci95_ns = {low, high};
  stats.rounds = rounds;
  stats.interval_kind = std::move(kind);
  return stats;
}

TEST(StopRule, LooksSeldom) {
  std::vector<std::int64_t> looks;
  for (std::int64_t rounds = 0; rounds <= 60; ++rounds) {
    if (is_look(rounds)) {
      looks.push_back(rounds);
    }
  }
  EXPECT_THAT(looks, ElementsAre(10, 14, 20, 28, 40, 56));
}

TEST(StopRule, TakesAPointForPreciseWhereALookSettledIt) {
  EXPECT_TRUE(StopRule::precise(stats_of(10, 990, 1010, kSettled)));
  EXPECT_FALSE(StopRule::precise(stats_of(12, 999, 1001)));
  EXPECT_FALSE(StopRule::precise({}));
}

TEST(StopRule, FlagsWhatIsWiderThanATenth) {
  const StopRule rule;
  EXPECT_THAT(rule.flags(stats_of(3, 910, 1099)), IsEmpty());
  EXPECT_THAT(rule.flags(stats_of(3, 890, 1000)), ElementsAre("noisy"));
  EXPECT_THAT(rule.flags(stats_of(3, 1000, 1110)), ElementsAre("noisy"));
}

TEST(StopRule, FlagsFewRoundsHoweverNarrow) {
  EXPECT_THAT(StopRule().flags(stats_of(2, 1000, 1000)), ElementsAre("few_rounds"));
  EXPECT_THAT(StopRule{.least_rounds = 5}.flags(stats_of(4, 1000, 1000)), ElementsAre("few_rounds"));
  EXPECT_THAT(StopRule{.least_rounds = 1}.flags(
                  summarize(std::vector<std::int64_t>{7, 8}, std::vector<std::int64_t>{2})),
              ElementsAre("few_rounds"));
}

// Small runs of tools/gate/stop_rule.cpp.
TEST(StopRule, IsSeldomWrongWhereRoundsAreAlike) {
  for (const gate::PointNoise& noise : gate::goal_rows()) {
    const gate::StopTally tally = gate::run_stop_trials(noise, 150, 1);
    EXPECT_LE(tally.wrong.hits, 8) << noise.name;  // 5 %
  }
}

TEST(StopRule, CallsIndependentRoundsPrecise) {
  const gate::PointNoise noise{.name = "", .round_sd = 0.01};
  const gate::StopTally tally = gate::run_stop_trials(noise, 150, 1);
  EXPECT_GE(tally.precise.share(), 0.9);
  EXPECT_LE(tally.rounds, 30);
}

TEST(StopRule, QuietPointsStopAtTheFirstLook) {
  const gate::PointNoise noise{.name = "", .round_sd = 0.0005};
  EXPECT_LE(gate::run_stop_trials(noise, 50, 1).rounds, 10.5);
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
