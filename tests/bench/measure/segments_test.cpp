#include "bench/measure/segments.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using Numbers = std::vector<double>;

TEST(Segments, OneLineStaysOne) {
  Numbers x;
  Numbers y;
  for (int i = 0; i < 12; ++i) {
    x.push_back(i);
    y.push_back(3 + 2 * i);
  }
  const auto segments = fit_segments(x, y, {}, {.most = 3, .fewest = 3, .resolution = 0.01});
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].points, 12U);
  EXPECT_NEAR(segments[0].line.slope.value, 2, 1e-12);
}

// y = x up to 5, 100 + 3x up to 11, 10x + 40 beyond.
TEST(Segments, FindsTheBendsOfThreeLines) {
  Numbers x;
  Numbers y;
  for (int i = 0; i < 18; ++i) {
    x.push_back(i);
    y.push_back(i < 6 ? i : i < 12 ? 100 + 3 * i : 10 * i + 40);
  }
  const auto three = fit_segments(x, y, {}, {.most = 3, .fewest = 3, .resolution = 0.01});
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[1].first, 6U);
  EXPECT_EQ(three[2].first, 12U);
  EXPECT_NEAR(three[1].line.intercept.value, 100, 1e-9);
  EXPECT_NEAR(three[2].line.slope.value, 10, 1e-9);
  EXPECT_EQ(fit_segments(x, y, {}, {.most = 2, .fewest = 3, .resolution = 0.01}).size(), 2U);
  EXPECT_LE(fit_segments(x, y, {}, {.most = 3, .fewest = 7, .resolution = 0.01}).size(), 2U);
}

TEST(Segments, WhatFallsHasNoLines) {
  EXPECT_TRUE(fit_segments(Numbers{1, 2, 3}, Numbers{3, 2, 1}, {}, {}).empty());
  EXPECT_TRUE(fit_segments(Numbers{1, 2}, Numbers{1, 2}, {}, {}).empty());
  EXPECT_TRUE(fit_segments({}, {}, {}, {}).empty());
  EXPECT_THROW(
      fit_segments(Numbers{1, 2, 3}, Numbers{1, 2, 3}, {}, {.most = 0, .fewest = 3, .resolution = 0}),
      std::invalid_argument);
}

}  // namespace
}  // namespace bench
