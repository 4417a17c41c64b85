#include "bench/stats/round_interval.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

// Of unit spread, alternating or in two spells.
std::vector<double> alternating(int rounds) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    values.push_back(i % 2 == 0 ? -1 - 0.01 * i : 1 + 0.01 * i);
  }
  return values;
}

std::vector<double> in_spells(int rounds) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    values.push_back(i < rounds / 2 ? -1 - 0.01 * i : 1 + 0.01 * i);
  }
  return values;
}

double model_width(const RoundModel& model, double level = 0.95) {
  const Interval interval = model.interval(level);
  return interval.high - interval.low;
}

TEST(RoundModel, FewRoundsHaveStudentsInterval) {
  const RoundModel model(std::vector<double>{0, 1, 2});
  // 1.2 · 4.303 / sqrt(3), about the median.
  EXPECT_NEAR(model.interval(0.95).low, 1 - 2.981, 2e-3);
  EXPECT_NEAR(model.interval(0.95).high, 1 + 2.981, 2e-3);
  EXPECT_EQ(model.effective_rounds(), 3);
  EXPECT_THROW(RoundModel(std::vector<double>{1}), std::invalid_argument);
}

TEST(RoundModel, EqualRoundsHaveNoWidth) {
  EXPECT_EQ(model_width(RoundModel(std::vector<double>(5, 3.0))), 0);
  EXPECT_EQ(model_width(RoundModel(std::vector<double>(20, 3.0))), 0);
}

TEST(RoundModel, CountsRoundsThatAreAlikeLess) {
  const RoundModel apart(alternating(20));
  const RoundModel alike(in_spells(20));
  EXPECT_GT(apart.effective_rounds(), 15);
  EXPECT_LT(alike.effective_rounds(), 5);
  EXPECT_GT(model_width(alike), 2 * model_width(apart));
}

TEST(RoundModel, AHigherLevelIsWider) {
  const RoundModel model(in_spells(20));
  EXPECT_GT(model_width(model, 0.99), 1.2 * model_width(model, 0.95));
}

// The median may lie in either of two levels.
TEST(RoundModel, HoldsBothLevelsOfManyRounds) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    values.push_back(i % 9 < 4 ? 0.1 : 0);
  }
  const Interval interval = RoundModel(values).interval(0.95);
  EXPECT_LE(interval.low, 0);
  EXPECT_GE(interval.high, 0.1);
}

}  // namespace
}  // namespace bench
