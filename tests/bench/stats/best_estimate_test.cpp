#include "bench/stats/best_estimate.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "bench/stats/random.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Estimates = std::vector<Estimate>;

constexpr double kError = 0.02;  // standard error of a logarithm

// Box and Muller: the same numbers on every platform.
double normal_error(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
  return radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
}

Estimate noisy(double truth, std::mt19937_64& engine, double error = kError) {
  const double value = truth * std::exp(error * normal_error(engine));
  return {value, Interval{value * std::exp(-1.96 * error), value * std::exp(1.96 * error)}};
}

struct Trials {
  double bias = 0;     // mean of log(best / truth), in standard errors
  double covered = 0;  // share of the intervals that contain the truth
};

// The best of machines with these rates.
Trials tried(const std::vector<double>& rates) {
  constexpr int kTrials = 2000;
  std::mt19937_64 engine(5);
  const double truth = std::ranges::max(rates);
  Trials trials;
  for (int trial = 0; trial < kTrials; ++trial) {
    Estimates estimates;
    for (const double rate : rates) {
      estimates.push_back(noisy(rate, engine));
    }
    const Estimate best = best_estimate(estimates)->estimate;
    trials.bias += std::log(best.value / truth) / kError / kTrials;
    trials.covered += best.low() <= truth && truth <= best.high() ? 1.0 / kTrials : 0;
  }
  return trials;
}

TEST(BestEstimate, OfSixEqualsIsNotTheLuckiest) {
  const Trials equals = tried({100, 100, 100, 100, 100, 100});  // the largest median: +1.27
  EXPECT_LT(std::abs(equals.bias), 0.3);
  EXPECT_GT(equals.covered, 0.95);
}

TEST(BestEstimate, OfOneThatIsFasterIsItsOwn) {
  const Trials one = tried({100, 80, 80, 80, 80, 80});  // by 11 standard errors
  EXPECT_LT(std::abs(one.bias), 0.1);
  EXPECT_GT(one.covered, 0.93);
}

// Between the two: the best of six that differ by as much as their noise.
TEST(BestEstimate, OfSimilarOnesIsOffByLessThanAStandardError) {
  const Trials similar = tried({100, 98, 96, 97, 95, 94});
  EXPECT_LT(std::abs(similar.bias), 1);
  EXPECT_GT(similar.covered, 0.88);
}

TEST(BestEstimate, PoolsEqualsAndNamesTheOneWithTheHighestLowerBound) {
  const auto best = best_estimate(Estimates{{100, Interval{90, 111.1}},
                                            {100, Interval{98, 102.04}},
                                            {100, Interval{80, 125}},
                                            {10, Interval{9, 11}}});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->place, 1U);
  EXPECT_THAT(best->rivals, ElementsAre(0, 2));
  EXPECT_NEAR(best->estimate.value, 100, 1e-9);
  EXPECT_NEAR(best->estimate.low(), 98, 1e-6);
  EXPECT_NEAR(best->estimate.high(), 102.04, 1e-6);
}

TEST(BestEstimate, OfOneIsLeftAsItIs) {
  const auto best = best_estimate(Estimates{{50, Interval{49, 51}}, {100, Interval{99, 102}}});
  EXPECT_EQ(best->estimate.value, 100);
  EXPECT_EQ(best->estimate.ci95, (Interval{99, 102}));
  EXPECT_THAT(best->rivals, IsEmpty());
}

TEST(BestEstimate, WithoutAnIntervalProvesNothingAgainstOneThatHasOne) {
  const auto best = best_estimate(Estimates{{400, std::nullopt}, {100, Interval{99, 101}}});
  EXPECT_EQ(best->place, 1U);
  const auto unknown =
      best_estimate(Estimates{{90, std::nullopt}, {100, std::nullopt}, {95, Interval{95, 95}}});
  EXPECT_EQ(unknown->place, 1U);
  EXPECT_FALSE(unknown->estimate.ci95);
  EXPECT_FALSE(best_estimate(Estimates{}));
  EXPECT_FALSE(best_estimate(Estimates{{0, std::nullopt}, {-1, Interval{-2, 0}}}));
}

}  // namespace
}  // namespace bench
