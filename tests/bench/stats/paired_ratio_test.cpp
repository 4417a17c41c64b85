#include "bench/stats/paired_ratio.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "bench/result/result.h"

namespace bench {
namespace {

Point point_of(const std::vector<std::int64_t>& round_ns) {
  Point point;
  for (const std::int64_t ns : round_ns) {
    point.samples_ns.insert(point.samples_ns.end(), {ns - 1, ns, ns + 1});
  }
  point.rounds = rounds_of(std::vector<std::int64_t>(round_ns.size(), 3));
  return point;
}

TEST(PairedRatio, WhatSlowsARoundCancelsOut) {
  const RoundTimes above = round_times(point_of({2000, 4000, 2400, 3000, 2020}));
  const RoundTimes below = round_times(point_of({1000, 2000, 1200, 1500, 1000}));
  const auto times = paired_ratio(above, below);
  ASSERT_TRUE(times && times->ci95);
  EXPECT_DOUBLE_EQ(times->value, 2);
  EXPECT_GT(times->low(), 1.9);
  EXPECT_LT(times->high(), 2.1);
}

TEST(PairedRatio, TakesRoundsThatBothHave) {
  RoundTimes above = round_times(point_of({1000, 2200, 3300, 4400}));
  const RoundTimes below = round_times(point_of({500, 1000, 1500, 2000, 10}));
  above.erase(above.begin());
  EXPECT_DOUBLE_EQ(paired_ratio(above, below)->value, 2.2);
  above.back().session = 1;  // another session's round of that number
  EXPECT_EQ(paired_ratio(above, below), std::nullopt);
}

TEST(PairedRatio, LeavesOutRoundsWithoutATime) {
  Point point = point_of({1000, 1000});
  point.rounds.push_back({.samples = 0, .round = 2});
  EXPECT_EQ(round_times(point).size(), 2U);
  point.samples_ns = {0, 0, 0, 1000, 1000, 1000};
  EXPECT_EQ(round_times(point).size(), 1U);
}

TEST(PairedRatio, WithoutRoundsInCommonTheIntervalsAreDivided) {
  const Estimate six{.value = 6, .ci95 = Interval{5, 8}};
  const Estimate two{.value = 2, .ci95 = Interval{1, 4}};
  EXPECT_EQ(ratio_by_rounds(six, RoundTimes{}, two, RoundTimes{}).ci95, (Interval{1.25, 8}));
}

TEST(PairedRatio, SeriesOfUnlikeLengthAreNoPairs) {
  EXPECT_DOUBLE_EQ(paired_ratio(std::vector<double>{2, 4, 6}, std::vector<double>{1, 2, 3})->value, 2);
  EXPECT_EQ(paired_ratio(std::vector<double>{2, 4, 6}, std::vector<double>{1, 2, 3, 4}), std::nullopt);
  EXPECT_EQ(paired_ratio(std::vector<double>{2, 4}, std::vector<double>{1, 2}), std::nullopt);
}

}  // namespace
}  // namespace bench
