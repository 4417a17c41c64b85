#include "bench/stats/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

TEST(Ratio, DiffersFromOneOnlyByItsInterval) {
  EXPECT_FALSE(Ratio{.value = 2}.differs_from_one()) << "no evidence";
  EXPECT_TRUE((Ratio{.value = 1.2, .interval = Interval{1.01, 1.4}}.differs_from_one()));
  EXPECT_FALSE((Ratio{.value = 1.2, .interval = Interval{1, 1.4}}.differs_from_one()));
  EXPECT_TRUE((Ratio{.value = 0.8, .interval = Interval{0.7, 0.99}}.differs_from_one()));
  EXPECT_FALSE(differs_from_one(Estimate{.value = 2}));
}

TEST(Ratio, DeviatesOnALogarithmicScaleByItsLevel) {
  for (const auto& [level, half_width] :
       {std::pair(kPredictedLevel, kNormal80), std::pair(kAdviceLevel, kNormal90),
        std::pair(kMeasuredLevel, kNormal95)}) {
    const Ratio ratio = deviating(2, 0.1, level);
    EXPECT_EQ(ratio.level, level);
    EXPECT_DOUBLE_EQ(ratio.low(), 2 / std::exp(half_width * 0.1));
    EXPECT_DOUBLE_EQ(ratio.high(), 2 * std::exp(half_width * 0.1));
  }
}

TEST(Ratio, KeepsItsLevelWhereItIsScaledAndTurnedOver) {
  const Ratio ratio = within_factor(2, 2, kPredictedLevel);
  EXPECT_EQ(scaled(ratio, 3).interval, (Interval{3, 12}));
  EXPECT_EQ(scaled(ratio, 3).level, kPredictedLevel);
  EXPECT_EQ(inverse(ratio).value, 0.5);
  EXPECT_EQ(inverse(ratio).interval, (Interval{0.25, 1}));
  EXPECT_TRUE(inverse(ratio).is_predicted());
}

TEST(Ratio, TheMeanIsGeometric) {
  std::vector<Ratio> ratios{{.value = 2, .interval = Interval{1, 4}},
                            {.value = 8, .interval = Interval{4, 16}}};
  const auto mean = mean_ratio(ratios);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->value, 4, 1e-12);
  EXPECT_NEAR(mean->low(), 2, 1e-12);
  EXPECT_NEAR(mean->high(), 8, 1e-12);
  ratios[0].interval.reset();
  EXPECT_FALSE(mean_ratio(ratios)->interval);
  EXPECT_FALSE(mean_ratio({}));
}

// The second does twice the work in half the time, by rounds too.
TEST(RatioOfWork, IsOfWorkASecondAndByRoundsWhereThereAreEnough) {
  const Estimate slow{.value = 4, .ci95 = Interval{3, 5}};
  const Estimate fast{.value = 2, .ci95 = Interval{1, 4}};
  const RoundTimes none;
  const Estimate ends = throughput_ratio({fast, none, 2}, {slow, none, 1});
  EXPECT_DOUBLE_EQ(ends.value, 4);
  EXPECT_EQ(ends.ci95, (Interval{1.5, 10}));
  const RoundTimes of_slow{{0, 0, 4}, {0, 1, 8}, {0, 2, 6}};
  const RoundTimes of_fast{{0, 0, 2}, {0, 1, 4}, {0, 2, 3}};
  const Estimate rounds = throughput_ratio({fast, of_fast, 2}, {slow, of_slow, 1});
  EXPECT_DOUBLE_EQ(rounds.value, 4);
  EXPECT_NEAR(rounds.high() - rounds.low(), 0, 1e-9);
}

TEST(RatioByRounds, TakesTimesOfTheSameRounds) {
  const Estimate six{.value = 6, .ci95 = Interval{5, 8}};
  const Estimate two{.value = 2, .ci95 = Interval{1, 4}};
  EXPECT_DOUBLE_EQ(ratio_by_rounds(six, {2, 4, 6}, two, {1, 2, 3}).value, 2);
  EXPECT_EQ(ratio_by_rounds(six, std::vector<double>{2, 4}, two, std::vector<double>{1, 2}).ci95,
            (Interval{1.25, 8}));
}

}  // namespace
}  // namespace bench
