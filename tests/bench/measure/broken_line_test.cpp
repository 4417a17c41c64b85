#include "bench/measure/broken_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "bench/measure/random.h"

namespace bench {
namespace {

using Numbers = std::vector<double>;

constexpr BrokenLineRule kTwoBends{.most_bends = 2, .resolution = 0.01};

Numbers doublings(int count) {
  Numbers x;
  for (int i = 0; i < count; ++i) {
    x.push_back(std::ldexp(1.0, i));
  }
  return x;
}

// Each y times exp(noise · z), z normal, and weights 1/y².
struct Scattered {
  Numbers y;
  Numbers weights;
};
template <typename Line>
Scattered scattered(const Numbers& x, Line line, double noise, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Scattered all;
  for (const double at : x) {
    const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
    const double z = radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
    all.y.push_back(line(at) * std::exp(noise * z));
    all.weights.push_back(1 / (all.y.back() * all.y.back()));
  }
  return all;
}

template <typename Line>
BrokenLine fitted(const Numbers& x, Line line, double noise = 0, std::uint64_t seed = 1) {
  const Scattered all = scattered(x, line, noise, seed);
  return fit_broken_line(x, all.y, all.weights, kTwoBends).value();
}

double straight_line(double x) {
  return 300 + x;
}
double one_bend(double x) {
  return x < 200 ? 50 + 2 * x : 400 + x / 4;
}
double two_bends(double x) {
  return x < 20 ? 10 + x : x < 3000 ? 25 + x / 4 : 775 + (x - 3000);
}

TEST(BrokenLine, StaysStraightWhereNothingBends) {
  const BrokenLine line = fitted(doublings(18), straight_line);
  ASSERT_EQ(line.pieces.size(), 1U);
  EXPECT_EQ(line.pieces[0].points, 18U);
  EXPECT_NEAR(line.pieces[0].intercept.value, 300, 1e-6);
  EXPECT_NEAR(line.pieces[0].slope.value, 1, 1e-9);
  EXPECT_EQ(line.pieces[0].from, 1);
  EXPECT_EQ(line.pieces[0].to, std::ldexp(1.0, 17));
}

// As one line through the same points, with its intervals.
TEST(BrokenLine, WithoutABendIsALine) {
  const Numbers x = doublings(12);
  const Scattered all = scattered(x, straight_line, 0.1, 3);
  const auto line = fit_broken_line(x, all.y, all.weights, {.most_bends = 0, .resolution = 0});
  const auto same = fit_line(x, all.y, all.weights);
  ASSERT_TRUE(line && line->pieces.size() == 1 && same);
  EXPECT_NEAR(line->pieces[0].intercept.value, same->intercept.value, 1e-7);
  EXPECT_NEAR(line->pieces[0].intercept.ci95->low, same->intercept.ci95->low, 1e-6);
  EXPECT_NEAR(line->pieces[0].slope.value, same->slope.value, 1e-10);
  EXPECT_NEAR(line->pieces[0].slope.ci95->high, same->slope.ci95->high, 1e-9);
}

TEST(BrokenLine, FindsABend) {
  const BrokenLine line = fitted(doublings(18), one_bend);
  ASSERT_EQ(line.pieces.size(), 2U);
  EXPECT_NEAR(line.pieces[0].to, 200, 0.2);
  EXPECT_EQ(line.pieces[1].from, line.pieces[0].to);
  EXPECT_NEAR(line.pieces[0].intercept.value, 50, 0.1);
  EXPECT_NEAR(line.pieces[1].slope.value, 0.25, 1e-4);
  EXPECT_NEAR(line.pieces[1].intercept.value, 400, 1);
}

TEST(BrokenLine, FindsTwoBends) {
  const BrokenLine line = fitted(doublings(18), two_bends);
  ASSERT_EQ(line.pieces.size(), 3U);
  EXPECT_NEAR(line.pieces[0].to, 20, 0.2);
  EXPECT_NEAR(line.pieces[1].to, 3000, 30);
  EXPECT_NEAR(line.pieces[1].slope.value, 0.25, 0.001);
  EXPECT_NEAR(line.pieces[2].slope.value, 1, 0.001);
}

// From one point to the next: nothing is known of what lies between.
TEST(BrokenLine, TakesAJumpForASteepPieceBetweenTwoPoints) {
  const BrokenLine line = fitted(doublings(18), [](double x) { return x < 100 ? 50 + x : 500 + x; });
  ASSERT_EQ(line.pieces.size(), 3U);
  EXPECT_NEAR(line.pieces[0].to, 64, 0.1);
  EXPECT_NEAR(line.pieces[1].to, 128, 0.1);
  EXPECT_EQ(line.pieces[1].points, 2U);
  EXPECT_NEAR(line.pieces[2].intercept.value, 500, 0.1);
}

// How often scatter bends a straight line, and how often a bend is seen in it.
TEST(BrokenLine, CountsBendsRightUnderScatter) {
  int straight = 0;
  int bent = 0;
  int twice = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    straight += fitted(doublings(18), straight_line, 0.08, seed).pieces.size() == 1 ? 1 : 0;
    bent += fitted(doublings(18), one_bend, 0.08, seed).pieces.size() == 2 ? 1 : 0;
    twice += fitted(doublings(18), two_bends, 0.08, seed).pieces.size() == 3 ? 1 : 0;
  }
  EXPECT_GE(straight, 180);
  EXPECT_GE(bent, 165);
  EXPECT_GE(twice, 195);
}

TEST(BrokenLine, IntervalsHoldTheTruthWhereTheBendIsPlain) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const BrokenLine line = fitted(doublings(18), one_bend, 0.03, seed);
    const auto& slope = line.pieces.back().slope;
    held += slope.ci95 && slope.ci95->low <= 0.25 && 0.25 <= slope.ci95->high ? 1 : 0;
  }
  EXPECT_GE(held, 85);
}

// Nothing happens up to 64, then a line: a slope that cannot be told from none, and the bend where it is.
TEST(BrokenLine, ASlopeThatCannotBeToldFromNoneIsAllowed) {
  const auto flat_start = [](double x) { return std::max(8000.0, x / 12 * 1000); };  // meet at 96
  const BrokenLine exact = fitted(doublings(18), flat_start);
  ASSERT_EQ(exact.pieces.size(), 2U);
  EXPECT_NEAR(exact.pieces[0].to, 96, 0.1);
  EXPECT_NEAR(exact.pieces[0].slope.value, 0, 1e-3);  // 83 beyond
  int found = 0;
  int flat = 0;
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const BrokenLine line = fitted(doublings(18), flat_start, 0.03, seed);
    const LinePiece& first = line.pieces.front();
    found += line.pieces.size() == 2 && std::abs(std::log(first.to / 96)) < 0.2 ? 1 : 0;
    flat += first.slope.value == 0 ? 1 : 0;
    held += first.slope.ci95 && first.slope.ci95->low <= 0 ? 1 : 0;
  }
  EXPECT_GE(found, 80);
  EXPECT_GE(flat, 25);  // it would fall in half of them
  EXPECT_GE(held, 85);
}

TEST(BrokenLine, ItsEndMayBeFlat) {
  const BrokenLine line = fitted(doublings(18), [](double x) { return std::min(50 + x, 1074.0); });
  ASSERT_EQ(line.pieces.size(), 2U);
  EXPECT_NEAR(line.pieces[0].to, 1024, 1);
  EXPECT_NEAR(line.pieces[1].slope.value, 0, 1e-9);
}

TEST(BrokenLine, FewPointsBendSeldomOrNever) {
  const auto bends = [](int points) { return fitted(doublings(points), two_bends).pieces.size() - 1; };
  EXPECT_EQ(bends(5), 0U);
  EXPECT_LE(bends(7), 1U);
}

TEST(BrokenLine, WhatFallsOrIsMissingHasNone) {
  EXPECT_FALSE(fit_broken_line(Numbers{1, 2, 3}, Numbers{3, 2, 1}, {}, kTwoBends));
  EXPECT_FALSE(fit_broken_line(Numbers{1}, Numbers{1}, {}, kTwoBends));
  EXPECT_FALSE(fit_broken_line({}, {}, {}, kTwoBends));
  EXPECT_THROW(fit_broken_line(Numbers{1, 3, 2}, Numbers{1, 2, 3}, {}, kTwoBends), std::invalid_argument);
  EXPECT_THROW(fit_broken_line(Numbers{0, 1, 2}, Numbers{1, 2, 3}, {}, kTwoBends), std::invalid_argument);
  EXPECT_THROW(fit_broken_line(Numbers{1, 2}, Numbers{1, 2}, {}, {.most_bends = 5, .resolution = 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace bench
