#include "bench/measure/budget.h"

#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Budget, ARoundCostsASetupAndAStep) {
  EXPECT_DOUBLE_EQ(minimum_cost_ns({.setup_ns = 5, .step_ns = 2}, 3), 21);
}

TEST(Budget, ACandidateNeedsItsProbeAndEveryonesRounds) {
  // Probe 5 + 3·2 = 11, rounds 3·7 = 21, the admitted point's rounds 3·(1 + 1) = 6: together 38.
  const std::vector<PointCost> admitted{{.setup_ns = 1, .step_ns = 1}};
  const PointCost candidate{.setup_ns = 5, .step_ns = 2};
  EXPECT_TRUE(admits(admitted, candidate, 38, 3));
  EXPECT_FALSE(admits(admitted, candidate, 37.9, 3));
}

TEST(Budget, WhatIsLeftAfterFixedCostsIsSharedEqually) {
  EXPECT_DOUBLE_EQ(slice_ns(100, 40, 6), 10);
  EXPECT_DOUBLE_EQ(slice_ns(30, 40, 6), 0);
  EXPECT_DOUBLE_EQ(slice_ns(30, 0, 0), 30);
}

}  // namespace
}  // namespace bench
