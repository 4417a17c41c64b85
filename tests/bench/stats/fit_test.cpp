#include "bench/stats/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using Values = std::vector<double>;

TEST(FitLine, FindsAnExactLine) {
  const auto fit = fit_line(Values{1, 2, 4, 8}, Values{5, 7, 11, 19});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->intercept.value, 3, 1e-12);
  EXPECT_NEAR(fit->slope.value, 2, 1e-12);
  EXPECT_NEAR(fit->r_squared, 1, 1e-12);
  ASSERT_TRUE(fit->slope.ci95);
  EXPECT_NEAR(fit->slope.ci95->low, 2, 1e-9);
  EXPECT_NEAR(fit->slope.ci95->high, 2, 1e-9);
  EXPECT_NEAR(fit->at(100), 203, 1e-9);
}

// x = 1..5, y = 2, 4, 5, 4, 5: by hand, slope 0.6, intercept 2.2, SSE 2.4, s² 0.8, Sxx 10, SST 6;
// se(slope) = sqrt(0.08), se(intercept) = sqrt(0.8·(1/5 + 9/10)); t(0.975, 3) = 3.182446.
TEST(FitLine, MatchesAHandComputedRegression) {
  const auto fit = fit_line(Values{1, 2, 3, 4, 5}, Values{2, 4, 5, 4, 5});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope.value, 0.6, 1e-12);
  EXPECT_NEAR(fit->intercept.value, 2.2, 1e-12);
  EXPECT_NEAR(fit->r_squared, 0.6, 1e-12);
  EXPECT_NEAR(fit->slope.ci95->high - 0.6, 3.182446 * std::sqrt(0.08), 1e-6);
  EXPECT_NEAR(2.2 - fit->intercept.ci95->low, 3.182446 * std::sqrt(0.88), 1e-6);
  const Values expected{-0.8, 0.6, 1.0, -0.6, -0.2};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(fit->residuals[i], expected[i], 1e-12);
  }
}

TEST(FitLine, AWeightOfTwoIsAPointTwice) {
  const auto weighted = fit_line(Values{1, 2, 3}, Values{1, 5, 4}, Values{1, 2, 1});
  const auto repeated = fit_line(Values{1, 2, 2, 3}, Values{1, 5, 5, 4});
  EXPECT_NEAR(weighted->slope.value, repeated->slope.value, 1e-12);
  EXPECT_NEAR(weighted->intercept.value, repeated->intercept.value, 1e-12);
  EXPECT_NEAR(weighted->r_squared, repeated->r_squared, 1e-12);
}

TEST(FitLine, OnlyTheWeightsProportionsMatter) {
  const auto small = fit_line(Values{1, 2, 3}, Values{1, 5, 4}, Values{1, 2, 1});
  const auto large = fit_line(Values{1, 2, 3}, Values{1, 5, 4}, Values{1e20, 2e20, 1e20});
  EXPECT_NEAR(small->slope.ci95->low, large->slope.ci95->low, 1e-9);
}

TEST(FitLine, TwoPointsHaveNoInterval) {
  const auto fit = fit_line(Values{1, 3}, Values{10, 20});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope.value, 5, 1e-12);
  EXPECT_NEAR(fit->intercept.value, 5, 1e-12);
  EXPECT_FALSE(fit->slope.ci95);
  EXPECT_FALSE(fit->intercept.ci95);
}

TEST(FitLine, NoLineThroughLessThanTwoPlaces) {
  EXPECT_FALSE(fit_line(Values{}, Values{}));
  EXPECT_FALSE(fit_line(Values{1}, Values{1}));
  EXPECT_FALSE(fit_line(Values{2, 2, 2}, Values{1, 2, 3}));
}

TEST(FitLine, AFlatLineIsExplainedWhole) {
  const auto fit = fit_line(Values{1, 2, 3}, Values{4, 4, 4});
  EXPECT_NEAR(fit->slope.value, 0, 1e-12);
  EXPECT_EQ(fit->r_squared, 1);
}

TEST(FitLine, KeepsItsDigitsFarFromZero) {
  const auto fit = fit_line(Values{1e9, 1e9 + 1, 1e9 + 2}, Values{5, 8, 11});
  EXPECT_NEAR(fit->slope.value, 3, 1e-9);
}

TEST(FitLine, RefusesWhatCannotBeFitted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fit_line(Values{1, 2}, Values{1}), std::invalid_argument);
  EXPECT_THROW(fit_line(Values{1, 2}, Values{1, 2}, Values{1}), std::invalid_argument);
  EXPECT_THROW(fit_line(Values{1, 2}, Values{1, 2}, Values{1, 0}), std::invalid_argument);
  EXPECT_THROW(fit_line(Values{1, 2}, Values{1, 2}, Values{1, -1}), std::invalid_argument);
  EXPECT_THROW(fit_line(Values{1, 2}, Values{1, nan}), std::invalid_argument);
}

}  // namespace
}  // namespace bench
