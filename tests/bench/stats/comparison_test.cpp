#include "bench/stats/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "bench/stats/moderated_variance.h"
#include "bench/stats/random.h"

namespace bench {
namespace {

using enum ComparisonVerdict;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Box and Muller, so that the numbers are the same with every standard library.
double normal_draw(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
  return radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
}

struct Noise {
  std::size_t points = 20;
  int runs = 5;  // a side
  std::function<double(std::size_t)> own_sd = [](std::size_t) { return 0.01; };
  double shift_sd = 0;
  double drift = 0;  // from -drift to +drift, base first
  bool calibrated = false;
};

RunLevels draw_run(std::mt19937_64& engine, const Noise& noise, double when) {
  RunLevels run;
  const double machine = noise.shift_sd * normal_draw(engine) + noise.drift * (2 * when - 1);
  for (std::size_t p = 0; p < noise.points; ++p) {
    run.points.push_back(machine + noise.own_sd(p) * normal_draw(engine));
  }
  if (noise.calibrated) {
    run.calibration = machine + 0.002 * normal_draw(engine);
  }
  return run;
}

RunsToCompare draw_suite(const Noise& noise, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  RunsToCompare runs;
  const int all = 2 * noise.runs;
  for (int i = 0; i < all; ++i) {
    (i < noise.runs ? runs.base : runs.next).push_back(draw_run(engine, noise, i / (all - 1.0)));
  }
  return runs;
}

bool any(const Comparison& comparison, ComparisonVerdict verdict) {
  bool found = comparison.common && comparison.common->verdict == verdict;
  for (const ChangeEstimate& point : comparison.points) {
    found = found || point.verdict == verdict;
  }
  return found;
}

// Of 300 suites without a change, those with a point slower or faster.
int false_alarms(const Noise& noise) {
  int alarms = 0;
  for (std::uint64_t suite = 0; suite < 300; ++suite) {
    const Comparison comparison = compare_runs(draw_suite(noise, stream_seed(1, suite)));
    alarms += any(comparison, slower) || any(comparison, faster) ? 1 : 0;
  }
  return alarms;
}

// A chance of 1 % gives more than 8 of 300 in 0.4 %.
constexpr int kMostAlarms = 8;

TEST(Comparison, RaisesFewFalseAlarms) {
  EXPECT_LE(false_alarms({}), kMostAlarms);
  EXPECT_LE(false_alarms({.runs = 3}), kMostAlarms);
}

TEST(Comparison, RaisesFewFalseAlarmsWherePointsDifferInNoise) {
  const auto unlike = [](std::size_t point) { return 0.005 * std::pow(6, static_cast<double>(point) / 19); };
  EXPECT_LE(false_alarms({.own_sd = unlike}), kMostAlarms);
  EXPECT_LE(false_alarms({.runs = 3, .own_sd = unlike}), kMostAlarms);
}

TEST(Comparison, RaisesFewFalseAlarmsWhereRunsShareAShift) {
  EXPECT_LE(false_alarms({.shift_sd = 0.02}), kMostAlarms);
  EXPECT_LE(false_alarms({.runs = 3, .shift_sd = 0.02, .calibrated = true}), kMostAlarms);
}

TEST(Comparison, FindsAPointThatIsSlower) {
  int found = 0;
  for (std::uint64_t suite = 0; suite < 300; ++suite) {
    RunsToCompare runs = draw_suite({}, stream_seed(2, suite));
    for (RunLevels& run : runs.next) {
      run.points[3] += std::log(1.035);
    }
    found += compare_runs(runs).points[3].verdict == slower ? 1 : 0;
  }
  EXPECT_GE(found, 279);  // of 95 %, four standard deviations less
}

TEST(Comparison, FindsAPointUnderACommonShift) {
  RunsToCompare runs =
      draw_suite({.own_sd = [](std::size_t) { return 0.005; }, .shift_sd = 0.02}, stream_seed(3, 0));
  for (RunLevels& run : runs.next) {
    run.points[3] += std::log(1.03);
  }
  const Comparison comparison = compare_runs(runs);
  EXPECT_EQ(comparison.points[3].verdict, slower);
  EXPECT_NEAR(comparison.points[3].ratio.value, 1.03, 0.015);
  EXPECT_GT(comparison.common_share, 0.5);
}

TEST(Comparison, CallsACommonSlowdownARegression) {
  RunsToCompare runs = draw_suite({.calibrated = true}, stream_seed(4, 0));
  for (RunLevels& run : runs.next) {
    for (double& level : run.points) {
      level += std::log(1.05);
    }
  }
  const Comparison comparison = compare_runs(runs);
  ASSERT_TRUE(comparison.common);
  EXPECT_EQ(comparison.common->verdict, slower);
  EXPECT_NEAR(comparison.common->ratio.value, 1.05, 0.01);
  EXPECT_EQ(comparison.common_share, 0);  // it is real, so each point carries it
  EXPECT_EQ(comparison.points[0].verdict, slower);
}

TEST(Comparison, LeavesACommonSlowdownToTheMachineWhereTheCalibrationMovedAsMuch) {
  RunsToCompare runs =
      draw_suite({.own_sd = [](std::size_t) { return 0.003; }, .calibrated = true}, stream_seed(5, 0));
  for (RunLevels& run : runs.next) {
    for (double& level : run.points) {
      level += std::log(1.10);
    }
    *run.calibration += std::log(1.098);
  }
  const Comparison comparison = compare_runs(runs);
  ASSERT_TRUE(comparison.common);
  EXPECT_EQ(comparison.common->verdict, inconclusive);
  EXPECT_EQ(comparison.common->reason, InconclusiveReason::calibration);
  EXPECT_FALSE(any(comparison, slower));
}

TEST(Comparison, RaisesNoAlarmForADriftThatTheCalibrationShares) {
  const Noise drifting{.own_sd = [](std::size_t) { return 0.005; }, .drift = 0.05, .calibrated = true};
  EXPECT_LE(false_alarms(drifting), kMostAlarms);
}

TEST(Comparison, SaysSameWhereTheIntervalIsNarrow) {
  const Comparison comparison =
      compare_runs(draw_suite({.own_sd = [](std::size_t) { return 0.002; }}, stream_seed(6, 0)));
  for (const ChangeEstimate& point : comparison.points) {
    EXPECT_EQ(point.verdict, same);
    EXPECT_FALSE(point.further_runs);
  }
  EXPECT_EQ(comparison.common->verdict, same);
}

TEST(Comparison, SaysWhatItCouldHaveShownWhereItCannotTell) {
  const Comparison comparison =
      compare_runs(draw_suite({.own_sd = [](std::size_t) { return 0.03; }}, stream_seed(7, 0)));
  const ChangeEstimate& point = comparison.points[0];
  ASSERT_EQ(point.verdict, inconclusive);
  EXPECT_EQ(point.reason, InconclusiveReason::noise);
  ASSERT_TRUE(point.smallest_change);
  EXPECT_GT(*point.smallest_change, 0.05);
  EXPECT_LT(*point.smallest_change, 0.2);
  ASSERT_TRUE(point.further_runs);
  EXPECT_GT(*point.further_runs, 5);
}

TEST(Comparison, KnowsNothingOfOneRunASideWithoutHistory) {
  const Comparison comparison = compare_runs(draw_suite({.runs = 1}, stream_seed(8, 0)));
  for (const ChangeEstimate& point : comparison.points) {
    EXPECT_EQ(point.verdict, inconclusive);
    EXPECT_EQ(point.reason, InconclusiveReason::no_spread);
    EXPECT_FALSE(point.ratio.interval);
  }
}

TEST(Comparison, TakesTheNoiseOfOneRunASideFromTheHistory) {
  const Noise noise{.runs = 1, .own_sd = [](std::size_t) { return 0.002; }};
  RunsToCompare runs = draw_suite(noise, stream_seed(9, 0));
  std::mt19937_64 engine(stream_seed(9, 1));
  for (int i = 0; i < 10; ++i) {
    runs.history.push_back(draw_run(engine, noise, 0));
  }
  runs.next[0].points[4] += std::log(1.2);
  const Comparison comparison = compare_runs(runs);
  EXPECT_EQ(comparison.points[4].verdict, slower);
  EXPECT_NE(comparison.points[5].verdict, slower);
}

// Of points whose history is all that a run's shift is known from, the shift takes the noise with it.
TEST(Comparison, AHistoryOfFewOfThePointsMakesNoneOfThemSure) {
  const Noise noise{.runs = 1, .shift_sd = 0.01};
  for (const std::size_t known : {1, 2, 3, 10}) {
    constexpr std::uint64_t kSuites = 200;
    int alarms = 0;
    for (std::uint64_t suite = 0; suite < kSuites; ++suite) {
      RunsToCompare runs = draw_suite(noise, stream_seed(21 + known, suite));
      std::mt19937_64 engine(stream_seed(121 + known, suite));
      for (int i = 0; i < 10; ++i) {
        runs.history.push_back(draw_run(engine, noise, 0));
        std::fill(runs.history.back().points.begin() + static_cast<std::ptrdiff_t>(known),
                  runs.history.back().points.end(), kMissing);
      }
      bool alarm = false;
      for (const ChangeEstimate& point : compare_runs(runs).points) {
        ASSERT_TRUE(std::isfinite(point.ratio.value)) << known;
        ASSERT_TRUE(point.ratio.interval || point.reason == InconclusiveReason::no_spread) << known;
        alarm = alarm || point.ratio.differs_from_one();
      }
      alarms += alarm ? 1 : 0;
    }
    EXPECT_LE(alarms, 6) << "1 % are two of " << kSuites << "; known: " << known;
  }
}

TEST(Comparison, UsesPairs) {
  // A machine whose speed wanders between pairs, point by point, but not within them.
  std::mt19937_64 engine(10);
  RunsToCompare runs;
  runs.paired = true;
  for (int pair = 0; pair < 6; ++pair) {
    RunLevels base = draw_run(engine, {.own_sd = [](std::size_t) { return 0.1; }}, 0);
    RunLevels next = base;
    for (double& level : next.points) {
      level += 0.003 * normal_draw(engine);
    }
    next.points[2] += std::log(1.05);
    runs.base.push_back(base);
    runs.next.push_back(next);
  }
  EXPECT_EQ(compare_runs(runs).points[2].verdict, slower);
  runs.paired = false;
  EXPECT_EQ(compare_runs(runs).points[2].verdict, inconclusive);
}

// One run of another point, and one whole run, took half as long again.
TEST(Comparison, OneDisturbedRunMovesNoPair) {
  int found = 0;
  for (std::uint64_t suite = 0; suite < 20; ++suite) {
    RunsToCompare runs = draw_suite({.runs = 10, .own_sd = [](std::size_t) { return 0.005; }}, suite);
    runs.paired = true;
    for (RunLevels& run : runs.next) {
      run.points[3] += std::log(1.05);
    }
    runs.base[6].points[8] += std::log(1.5);
    for (double& level : runs.next[2].points) {
      level += std::log(1.5);
    }
    const Comparison comparison = compare_runs(runs);
    found += comparison.points[3].verdict == slower && comparison.points[8].verdict == same ? 1 : 0;
    EXPECT_EQ(comparison.common->verdict, same) << comparison.common->ratio.interval->high;
  }
  EXPECT_EQ(found, 20);
}

TEST(Comparison, PaysForLooks) {
  const RunsToCompare runs = draw_suite({}, stream_seed(11, 0));
  const Comparison once = compare_runs(runs);
  const Comparison first = compare_runs(runs, {.look = 1});
  const Comparison third = compare_runs(runs, {.look = 3});
  EXPECT_DOUBLE_EQ(once.alpha, 0.01);
  EXPECT_DOUBLE_EQ(first.alpha, 0.005);
  EXPECT_DOUBLE_EQ(third.alpha, 0.01 / 12);
  EXPECT_LT(third.points[0].ratio.interval->low, first.points[0].ratio.interval->low);
  EXPECT_LT(first.points[0].ratio.interval->low, once.points[0].ratio.interval->low);
}

TEST(Comparison, TakesWholeChangesOfFewPoints) {
  RunsToCompare runs = draw_suite({.points = 2, .runs = 9, .own_sd = [](std::size_t) { return 0.003; }}, 12);
  for (RunLevels& run : runs.next) {
    run.points[0] += std::log(1.05);
    run.points[1] += std::log(1.05);
  }
  const Comparison comparison = compare_runs(runs);
  EXPECT_FALSE(comparison.common);
  EXPECT_EQ(comparison.points[0].verdict, slower);
  EXPECT_EQ(comparison.points[1].verdict, slower);
}

TEST(Comparison, PassesOverMissingValues) {
  RunsToCompare runs = draw_suite({.own_sd = [](std::size_t) { return 0.003; }}, stream_seed(13, 0));
  runs.base[1].points[3] = kMissing;
  for (RunLevels& run : runs.next) {
    run.points[5] = kMissing;
  }
  const Comparison comparison = compare_runs(runs);
  EXPECT_TRUE(comparison.points[3].ratio.interval);
  EXPECT_EQ(comparison.points[5].reason, InconclusiveReason::no_value);
  EXPECT_FALSE(comparison.points[5].ratio.interval);
}

TEST(Comparison, ToleratesRunsWithoutNoise) {
  RunsToCompare runs;
  runs.base.assign(3, {.points = std::vector<double>(6, 1.0), .calibration = {}});
  runs.next = runs.base;
  for (RunLevels& run : runs.next) {
    run.points[2] += std::log(1.5);
  }
  const Comparison comparison = compare_runs(runs);
  EXPECT_EQ(comparison.points[0].verdict, same);
  EXPECT_EQ(comparison.points[2].verdict, slower);
  EXPECT_DOUBLE_EQ(comparison.points[2].ratio.value, 1.5);
}

TEST(Comparison, RefusesWhatIsNoComparison) {
  const RunsToCompare good = draw_suite({}, 1);
  RunsToCompare none = good;
  none.next.clear();
  EXPECT_THROW(compare_runs(none), std::invalid_argument);
  RunsToCompare fewer = good;
  fewer.next[0].points.pop_back();
  EXPECT_THROW(compare_runs(fewer), std::invalid_argument);
  RunsToCompare infinite = good;
  infinite.base[0].points[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(compare_runs(infinite), std::invalid_argument);
  EXPECT_THROW(compare_runs(good, {.alpha = 0}), std::invalid_argument);
  EXPECT_THROW(compare_runs(good, {.threshold = 0}), std::invalid_argument);
}

TEST(Comparison, VerdictsFollowTheInterval) {
  EXPECT_EQ(verdict_of({.low = 1.01, .high = 1.05}, 0.03), slower);
  EXPECT_EQ(verdict_of({.low = 1.01, .high = 1.02}, 0.03), same);  // sure, but small
  EXPECT_EQ(verdict_of({.low = 0.99, .high = 1.02}, 0.03), same);
  EXPECT_EQ(verdict_of({.low = 0.99, .high = 1.05}, 0.03), inconclusive);
  EXPECT_EQ(verdict_of({.low = 0.90, .high = 0.99}, 0.03), faster);
  EXPECT_EQ(verdict_of({.low = 0.90, .high = 1.20}, 0.03), inconclusive);
}

TEST(ModeratedVariance, BorrowsAllWherePointsAreAlike) {
  // The quantiles of chi-square with 8 degrees of freedom, over 8: as alike as one variance makes them.
  const std::vector<double> variances{0.34, 0.53, 0.69, 0.84, 1.0, 1.19, 1.44, 1.92};
  const std::vector<double> freedoms(variances.size(), 8.0);
  const VariancePrior prior = fit_variance_prior(variances, freedoms);
  EXPECT_GT(prior.freedom, 20);
  EXPECT_NEAR(prior.scale, 1, 0.1);
  const ModeratedVariance least = moderate(prior, 0.34, 8, variances.size());
  EXPECT_GT(least.variance, 0.7);
  EXPECT_DOUBLE_EQ(least.freedom, prior.freedom + 8);
}

TEST(ModeratedVariance, BorrowsLittleWherePointsAreUnlike) {
  const std::vector<double> variances{0.001, 0.01, 0.1, 1, 10, 100};
  const std::vector<double> freedoms(variances.size(), 8.0);
  EXPECT_LT(fit_variance_prior(variances, freedoms).freedom, 1);
}

TEST(ModeratedVariance, LeavesAHypervariablePointItsOwn) {
  const VariancePrior prior{.scale = 1, .freedom = 50};
  const ModeratedVariance wild = moderate(prior, 36, 8, 20);
  EXPECT_EQ(wild.variance, 36);
  EXPECT_EQ(wild.freedom, 8);
}

TEST(ModeratedVariance, HasNoPriorForFewPoints) {
  EXPECT_EQ(fit_variance_prior(std::vector<double>{1, 1, 1}, std::vector<double>{8, 8, 8}).freedom, 0);
}

}  // namespace
}  // namespace bench
