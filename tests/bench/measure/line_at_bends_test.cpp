#include "bench/measure/line_at_bends.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "bench/measure/bend_search.h"
#include "bench/measure/fit.h"

namespace bench {
namespace {

using Column = std::vector<double>;

Nodes nodes_at(const Column& places) {
  Nodes nodes;
  for (const double place : places) {
    nodes.push(place);
  }
  return nodes;
}

// All of weight 1 unless given.
struct Sample {
  Sample(Column at, Column values, Column given = {})
      : x(std::move(at)), y(std::move(values)), weights(std::move(given)) {
    weights.resize(x.size(), 1);
  }
  LinePoints points() const { return {.x = x, .y = y, .weights = weights}; }
  Column x;
  Column y;
  Column weights;
};

TEST(PointSums, OfEachRunFromItsFirstPoint) {
  const Sample sample({1, 2, 4, 8}, {3, 5, 7, 9}, {1, 2, 3, 4});
  const PointSums sums(sample.points());
  const PointSums::Sums& run = sums.of(1, 3);  // x 2 and 4
  EXPECT_EQ(run.w, 5);
  EXPECT_EQ(run.wx, 3 * 2);
  EXPECT_EQ(run.wxx, 3 * 4);
  EXPECT_EQ(run.wy, 2 * 5 + 3 * 7);
  EXPECT_EQ(run.wxy, 3 * 2 * 7);
  EXPECT_EQ(sums.squares(), 9 + 2 * 25 + 3 * 49 + 4 * 81);
  EXPECT_EQ(sums.up_to(4), 3U);
  EXPECT_EQ(sums.up_to(3.9), 2U);
  EXPECT_EQ(sums.within(2, 4), 2U);
}

TEST(LineAtBends, GoesThroughPointsThatBendThere) {
  const Sample sample({1, 2, 3, 5, 7}, {10, 12, 14, 15, 16});  // 8 + 2x to 3, then 12.5 + x/2
  const LineAtBends line(PointSums(sample.points()), nodes_at({1, 3, 7}));
  EXPECT_NEAR(line.slope(0), 2, 1e-12);
  EXPECT_NEAR(line.intercept(0), 8, 1e-12);
  EXPECT_NEAR(line.slope(1), 0.5, 1e-12);
  EXPECT_NEAR(line.intercept(1), 12.5, 1e-12);
  EXPECT_NEAR(line.unexplained(), 0, 1e-11);
  EXPECT_NEAR(line.at(2.5), 13, 1e-12);
  EXPECT_NEAR(line.at(9), 17, 1e-12);
}

// A million to one in x and in weight: as fit_line, which sums around the means.
TEST(LineAtBends, WithoutABendIsTheLineWithItsVariances) {
  Column x;
  Column y;
  Column weights;
  for (int i = 0; i < 20; ++i) {
    x.push_back(std::ldexp(1.0, i));
    y.push_back((300 + x.back()) * (i % 2 == 0 ? 1.02 : 0.98));
    weights.push_back(1 / (y.back() * y.back()));
  }
  const Sample sample(x, y, weights);
  const LineAtBends line(PointSums(sample.points()), nodes_at({x.front(), x.back()}));
  const auto same = fit_line(x, y, weights);
  ASSERT_TRUE(same);
  EXPECT_NEAR(line.slope(0), same->slope.value, 1e-11);
  EXPECT_NEAR(line.intercept(0), same->intercept.value, 1e-8);
  double unexplained = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    unexplained += weights[i] * same->residuals[i] * same->residuals[i];
  }
  EXPECT_NEAR(line.unexplained(), unexplained, 1e-12);
  const double error = std::sqrt(unexplained / 18);
  const Estimate slope = with_interval(line.slope(0), error * std::sqrt(line.slope_variance(0)), 18);
  const Estimate start = with_interval(line.intercept(0), error * std::sqrt(line.intercept_variance(0)), 18);
  EXPECT_NEAR(slope.ci95->low, same->slope.ci95->low, 1e-10);
  EXPECT_NEAR(start.ci95->high, same->intercept.ci95->high, 1e-6);
}

// The least squares of a line that may not fall: the mean where it would, 9, and a bend there.
TEST(LineAtBends, APieceThatWouldFallIsFlat) {
  const Sample sample({1, 2, 3, 4, 5}, {10, 9, 8, 12, 15});
  const LineAtBends line(PointSums(sample.points()), nodes_at({1, 3, 5}));
  EXPECT_EQ(line.slope(0), 0);
  // v flat, then to u: 3 of v, 4's is (v + u) / 2, 5's u.
  // Normal equations: 3.25 v + 0.25 u = 33, 0.25 v + 1.25 u = 21.
  const double v = (33 * 1.25 - 21 * 0.25) / (3.25 * 1.25 - 0.25 * 0.25);
  const double u = (21 - 0.25 * v) / 1.25;
  EXPECT_NEAR(line.intercept(0), v, 1e-12);
  EXPECT_NEAR(line.at(5), u, 1e-12);
  double unexplained = 0;
  for (std::size_t i = 0; i < sample.x.size(); ++i) {
    unexplained += std::pow(sample.y[i] - line.at(sample.x[i]), 2);
  }
  EXPECT_NEAR(line.unexplained(), unexplained, 1e-11);
  EXPECT_GT(line.slope_variance(0), 0);
}

TEST(LineAtBends, WhatFallsOrStaysThroughoutIsNoLine) {
  for (const Column& y : {Column{5, 4, 3, 2}, Column{5, 5, 5, 5}}) {
    const Sample sample({1, 2, 3, 4}, y);
    EXPECT_TRUE(std::isinf(LineAtBends(PointSums(sample.points()), nodes_at({1, 4})).unexplained()));
    EXPECT_TRUE(std::isinf(best_bends(PointSums(sample.points()), 1).unexplained));
  }
}

TEST(BendSearch, FindsTheBendBetweenThePoints) {
  Column x;
  Column y;
  for (int i = 0; i < 12; ++i) {
    x.push_back(std::ldexp(1.0, i));
    y.push_back(x.back() < 100 ? 50 + 2 * x.back() : 200 + x.back() / 2);
  }
  const Sample sample(x, y);
  const FoundBends found = best_bends(PointSums(sample.points()), 1);
  ASSERT_EQ(found.nodes.size(), 3U);
  EXPECT_NEAR(found.nodes[1], 100, 0.1);
  EXPECT_NEAR(found.unexplained, 0, 1e-4);
}

}  // namespace
}  // namespace bench
