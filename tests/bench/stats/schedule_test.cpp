#include "bench/stats/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/stats/random.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Schedule, HoldsEveryPointOnce) {
  for (const std::size_t points : {1U, 2U, 17U, 1000U}) {
    auto order = shuffled_round(points, 7, 3);
    std::ranges::sort(order);
    std::vector<std::size_t> expected(points);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(order, expected);
  }
  EXPECT_THAT(shuffled_round(0, 7, 3), IsEmpty());
}

TEST(Schedule, DependsOnSeedAndRoundOnly) {
  EXPECT_EQ(shuffled_round(50, 1, 2), shuffled_round(50, 1, 2));
  EXPECT_NE(shuffled_round(50, 1, 2), shuffled_round(50, 1, 3));
  EXPECT_NE(shuffled_round(50, 1, 2), shuffled_round(50, 2, 2));
  EXPECT_NE(shuffled_round(50, 1, 2), shuffled_round(50, 2, 1));
}

// Every point stands at every place about equally often: 6 points, 6000 rounds, 1000 expected in each cell
// with a standard deviation of 29.
TEST(Schedule, FavoursNoPlace) {
  constexpr std::size_t kPoints = 6;
  std::array<std::array<int, kPoints>, kPoints> count{};
  for (std::uint64_t round = 0; round < 6000; ++round) {
    const auto order = shuffled_round(kPoints, 42, round);
    for (std::size_t place = 0; place < kPoints; ++place) {
      ++count[place][order[place]];
    }
  }
  for (const auto& row : count) {
    for (const int cell : row) {
      EXPECT_NEAR(cell, 1000, 5 * 29);
    }
  }
}

TEST(Random, BoundedDrawsStayInBoundsAndReachAll) {
  std::mt19937_64 engine(1);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) {
    ++seen.at(bounded_draw(engine, 5));
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n > 100; }));
  EXPECT_EQ(bounded_draw(engine, 1), 0U);
}

TEST(Random, UnitDrawsAreUniform) {
  std::mt19937_64 engine(1);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double u = unit_draw(engine);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);
}

}  // namespace
}  // namespace bench
