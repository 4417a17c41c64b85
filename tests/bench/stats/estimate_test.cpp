#include "bench/stats/estimate.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace bench {
namespace {

TEST(Estimate, WithoutAnIntervalItsEndsAreItsValue) {
  const Estimate estimate{.value = 3};
  EXPECT_EQ(estimate.low(), 3);
  EXPECT_EQ(estimate.high(), 3);
}

TEST(Estimate, AnInverseChangesEnds) {
  const Estimate rate = inverse({.value = 2, .ci95 = Interval{1, 4}}, 8);
  EXPECT_EQ(rate.value, 4);
  EXPECT_EQ(rate.ci95, (Interval{2, 8}));
  EXPECT_FALSE(inverse({.value = 2, .ci95 = Interval{-1, 4}}).ci95);
}

TEST(Estimate, ARatioHasAnIntervalWhereBothHaveOne) {
  const Estimate six{.value = 6, .ci95 = Interval{5, 8}};
  const Estimate two{.value = 2, .ci95 = Interval{1, 4}};
  EXPECT_EQ(ratio(six, two).value, 3);
  EXPECT_EQ(ratio(six, two).ci95, (Interval{1.25, 8}));
  EXPECT_FALSE(ratio(six, {.value = 2}).ci95);
  EXPECT_FALSE(ratio({.value = 6}, two).ci95);
  EXPECT_FALSE(ratio(six, {.value = 2, .ci95 = Interval{-1, 4}}).ci95);
}

// 2, 4, 6: standard error 2/sqrt(3), t(0.975, 2) = 4.302653.
TEST(Estimate, AMeanHasStudentsInterval) {
  const Estimate mean = mean_estimate(std::vector<double>{2, 4, 6});
  EXPECT_DOUBLE_EQ(mean.value, 4);
  EXPECT_NEAR(mean.high() - 4, 4.302653 * 1.1547005, 1e-5);
  EXPECT_FALSE(mean_estimate(std::vector<double>{2}).ci95);
  EXPECT_THROW(mean_estimate({}), std::invalid_argument);
}

}  // namespace
}  // namespace bench
