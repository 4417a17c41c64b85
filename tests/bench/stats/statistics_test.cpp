#include "bench/stats/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "bench/stats/random.h"

namespace bench {
namespace {

using Samples = std::vector<std::int64_t>;

// Box and Muller, so that the numbers are the same with every standard library.
double normal_draw(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
  return radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
}

struct Noise {
  double between;  // standard deviation of a round's level, ns
  double within;   // of samples around it, ns
};

struct Draw {
  Samples samples;
  Samples sizes;
};

Draw draw_rounds(std::mt19937_64& engine, int rounds, int size, Noise noise) {
  Draw draw;
  draw.sizes.assign(static_cast<std::size_t>(rounds), size);
  for (int round = 0; round < rounds; ++round) {
    const double level = 1e6 + noise.between * normal_draw(engine);
    for (int i = 0; i < size; ++i) {
      draw.samples.push_back(std::llround(level + noise.within * normal_draw(engine)));
    }
  }
  return draw;
}

TEST(Statistics, TheMeanOfNothingIsZero) {
  EXPECT_EQ(mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_EQ(mean(std::vector<std::int64_t>{1, 2}), 1.5);
  EXPECT_EQ(mean(std::vector<double>{}), 0);
}

TEST(Statistics, TheVarianceIsThatOfASample) {
  EXPECT_EQ(variance(std::vector<double>{1, 2, 6}), 7);
  EXPECT_EQ(variance(std::vector<double>{5}), 0);
}

TEST(Statistics, QuantilesInterpolateBetweenOrderStatistics) {
  const std::vector<double> values{30, 10, 40, 20};  // NumPy: quantile([10, 20, 30, 40], 0.05) is 11.5
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 11.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 38.5);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
  EXPECT_THROW(quantile(std::vector<double>{}, 0.5), std::invalid_argument);
}

TEST(Statistics, TheMedianIsTheMiddleValueOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::vector<double>{3.5, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_THROW(median({}), std::invalid_argument);
}

// Tables of the binomial distribution: of 6 the ends, of 10 the second, of 20 the sixth from either side.
TEST(Statistics, TheMediansIntervalIsByOrder) {
  const auto numbers_to = [](int last) {
    std::vector<double> numbers;
    for (int i = last; i >= 1; --i) {
      numbers.push_back(i);
    }
    return numbers;
  };
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(numbers_to(5)));
  EXPECT_EQ(median_interval(numbers_to(6)), (Interval{1, 6}));
  EXPECT_EQ(median_interval(numbers_to(10)), (Interval{2, 9}));
  EXPECT_EQ(median_interval(numbers_to(20)), (Interval{6, 15}));
}

TEST(Statistics, AnEstimateHasTheSameIntervalInAnyUnit) {
  const std::vector<double> seconds{0.10, 0.12, 0.11, 0.13};
  const Samples ns{100'000'000, 120'000'000, 110'000'000, 130'000'000};
  const SampleStats stats = summarize(ns, Samples{1, 1, 1, 1});
  const Estimate estimate = median_estimate(seconds);
  EXPECT_NEAR(estimate.value, stats.median_ns / 1e9, 1e-12);
  EXPECT_NEAR(estimate.ci95->low, stats.ci95_ns->low / 1e9, 1e-12);
  EXPECT_NEAR(estimate.ci95->high, stats.ci95_ns->high / 1e9, 1e-12);
}

TEST(Statistics, SummarizesKnownValues) {
  const Samples samples{50, 10, 40, 20, 30};
  const SampleStats stats = summarize(samples, Samples{5});
  EXPECT_DOUBLE_EQ(stats.median_ns, 30);
  EXPECT_DOUBLE_EQ(stats.p05_ns, 12);
  EXPECT_DOUBLE_EQ(stats.p95_ns, 48);
  EXPECT_DOUBLE_EQ(stats.cv, std::sqrt(250.0) / 30);
  EXPECT_EQ(stats.rounds, 1);
}

TEST(Statistics, EqualSamplesHaveNoWidth) {
  const SampleStats stats = summarize(Samples(30, 1234), Samples{10, 10, 10});
  EXPECT_DOUBLE_EQ(stats.median_ns, 1234);
  EXPECT_NEAR(stats.ci95_ns->low, 1234, 1e-6);
  EXPECT_NEAR(stats.ci95_ns->high, 1234, 1e-6);
  EXPECT_EQ(stats.cv, 0);
}

TEST(Statistics, OneRoundHasNoInterval) {
  const SampleStats stats = summarize(Samples{77}, Samples{1});
  EXPECT_EQ(stats.median_ns, 77);
  EXPECT_EQ(stats.ci95_ns, std::nullopt);
  EXPECT_EQ(stats.interval_kind, "none");
  EXPECT_EQ(stats.cv, 0);
}

TEST(Statistics, RefusesWhatDoesNotAddUp) {
  EXPECT_THROW(summarize(Samples{}, Samples{}), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{}, Samples{0}), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{1, 2}, Samples{1}), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{1, 2}, Samples{3}), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{1, 2}, Samples{3, -1}), std::invalid_argument);
}

TEST(Statistics, PassesOverEmptyRounds) {
  const SampleStats with = summarize(Samples{1, 2, 3, 4}, Samples{2, 0, 2});
  const SampleStats without = summarize(Samples{1, 2, 3, 4}, Samples{2, 2});
  EXPECT_EQ(with.rounds, 2);
  EXPECT_EQ(with.ci95_ns, without.ci95_ns);
}

// Three rounds at 100, 110 and 120 us: samples within a round agree, so an interval that saw them as 300
// independent samples would be a fraction of a microsecond wide.
TEST(Statistics, CountsTheSpreadBetweenRounds) {
  Samples samples;
  for (const std::int64_t level : {100'000, 110'000, 120'000}) {
    for (std::int64_t i = 0; i < 100; ++i) {
      samples.push_back(level + i % 7);
    }
  }
  const SampleStats split = summarize(samples, Samples{100, 100, 100});
  // t: 1.2 · 4.303 · sd(log) / sqrt(3), with sd(log) = 0.0912: a factor of 1.312 either way.
  EXPECT_EQ(split.median_ns, 110'003);
  EXPECT_NEAR(split.ci95_ns->low, 110'003 / 1.312, 200);
  EXPECT_NEAR(split.ci95_ns->high, 110'003 * 1.312, 200);
}

// Two hundred samples taken together tell of one round.
TEST(Statistics, CountsEachRoundOnce) {
  Samples samples(200, 1000);
  samples.insert(samples.end(), {2000, 2001, 2002, 2003});
  EXPECT_EQ(summarize(samples, Samples{200, 1, 1, 1, 1}).median_ns, 2001);
}

TEST(Statistics, OneSlowRoundOfSixDoesNotDecide) {
  const SampleStats stats = summarize(Samples{1000, 1004, 1008, 5000, 1002, 1006}, Samples(6, 1));
  EXPECT_EQ(stats.median_ns, 1005);
  EXPECT_LT(stats.half_width(), 0.01);
}

TEST(Statistics, ClaimsNothingBeyondTwiceWhatWasSeen) {
  const SampleStats stats = summarize(Samples{1000, 3000}, Samples{1, 1});
  EXPECT_EQ(stats.ci95_ns, (Interval{500, 6000}));
}

TEST(Statistics, LongRoundsStayCheapAndRight) {
  std::mt19937_64 engine(8);
  const Draw draw = draw_rounds(engine, 3, 50'000, {0, 1e4});
  const SampleStats stats = summarize(draw.samples, draw.sizes);
  EXPECT_NEAR(stats.median_ns, 1e6, 200);
  EXPECT_LT(stats.half_width(), 1e-3);
}

struct Coverage {
  int rounds;
  int size;
  Noise noise;
};

class IntervalCoverage : public ::testing::TestWithParam<Coverage> {};

// Of 400 simulated points, at least 90 % of the intervals hold the true median, and their typical width is no
// more than 2.2 times the least (2.8 with ten rounds) that the noise between rounds justifies (so a huge
// interval fails too).
TEST_P(IntervalCoverage, HoldsTheTrueMedian) {
  const Coverage c = GetParam();
  std::mt19937_64 engine(2024);
  constexpr int kTrials = 400;
  int held = 0;
  std::vector<double> widths;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Draw draw = draw_rounds(engine, c.rounds, c.size, c.noise);
    const Interval ci = *summarize(draw.samples, draw.sizes).ci95_ns;
    held += ci.low <= 1e6 && 1e6 <= ci.high ? 1 : 0;
    widths.push_back(ci.high - ci.low);
  }
  EXPECT_GE(held, kTrials * 90 / 100);

  std::ranges::sort(widths);
  const double median_within = 1.2533 * c.noise.within / std::sqrt(c.size);
  const double of_round = std::hypot(c.noise.between, median_within);
  const double t = c.rounds == 3 ? 4.303 : c.rounds == 5 ? 2.776 : 2.3;
  // Ten rounds may be alike without showing it.
  const double wide = c.rounds == 10 ? 2.8 : 2.2;
  EXPECT_LE(widths[kTrials / 2], wide * 2 * t * of_round / std::sqrt(c.rounds));
}

INSTANTIATE_TEST_SUITE_P(Statistics, IntervalCoverage,
                         ::testing::Values(Coverage{3, 32, {2e4, 1e4}},   // rounds differ more than samples
                                           Coverage{3, 32, {1e3, 3e4}},   // samples differ more than rounds
                                           Coverage{3, 1, {2e4, 0}},      // one sample a round
                                           Coverage{5, 16, {2e4, 2e4}},   //
                                           Coverage{10, 16, {2e4, 1e4}},  //
                                           Coverage{25, 8, {2e4, 1e4}}));

TEST(Widened80, SquaresOfIndependentErrorsAddUpOnALogarithmicScale) {
  const double deviation = log_deviation({100 / 1.2, 100 * 1.2}, kNormal80);
  EXPECT_NEAR(deviation, std::log(1.2) / kNormal80, 1e-12);
  const Interval alone = widened80({100, 100}, 100, deviation);
  EXPECT_NEAR(alone.low, 100 / 1.2, 1e-9);
  EXPECT_NEAR(alone.high, 120, 1e-9);
  const Interval both = widened80({90, 150}, 100, deviation);
  EXPECT_NEAR(std::log(both.high / 100), std::sqrt(std::pow(std::log(1.5), 2) + std::pow(std::log(1.2), 2)),
              1e-9);
  EXPECT_NEAR(std::log(100 / both.low),
              std::sqrt(std::pow(std::log(1 / 0.9), 2) + std::pow(std::log(1.2), 2)), 1e-9);
  EXPECT_EQ(widened80({90, 150}, 100, 0),
            (Interval{100 / std::exp(std::log(100 / 90.0)), 100 * std::exp(std::log(1.5))}));
}

}  // namespace
}  // namespace bench
