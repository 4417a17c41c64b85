#include "bench/stats/budget.h"

#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Budget, ARoundCostsASetupAndAStep) {
  EXPECT_DOUBLE_EQ(minimum_cost_ns({.setup_ns = 5, .step_ns = 2}, 3), 21);
}

TEST(Budget, ACandidateNeedsItsPreparationAndEveryonesRounds) {
  // Preparing 5 + 3·2 = 11, a first sample 2, two more rounds 2·7 = 14, the ready point's 2·(1 + 1) = 4:
  // together 31.
  const std::vector<PointCost> ready{{.setup_ns = 1, .step_ns = 1}};
  const CandidateCost candidate{.first_setup_ns = 5, .again = {.setup_ns = 5, .step_ns = 2}};
  EXPECT_TRUE(has_room(ready, candidate, 31, 3));
  EXPECT_FALSE(has_room(ready, candidate, 30.9, 3));
}

TEST(Budget, WhatIsLeftAfterFixedCostsIsSharedEqually) {
  EXPECT_DOUBLE_EQ(slice_ns(100, 40, 6), 10);
  EXPECT_DOUBLE_EQ(slice_ns(30, 40, 6), 0);
  EXPECT_DOUBLE_EQ(slice_ns(30, 0, 0), 30);
}

}  // namespace
}  // namespace bench
