#include "bench/stats/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace bench {
namespace {

TEST(IncompleteBeta, AgreesWithClosedForms) {
  for (const double x : {0.01, 0.3, 0.5, 0.77, 0.99}) {
    EXPECT_NEAR(incomplete_beta(1, 1, x), x, 1e-13);
    EXPECT_NEAR(incomplete_beta(3, 1, x), x * x * x, 1e-13);
    EXPECT_NEAR(incomplete_beta(1, 4, x), 1 - std::pow(1 - x, 4), 1e-13);
    EXPECT_NEAR(incomplete_beta(2, 2, x), x * x * (3 - 2 * x), 1e-13);
    EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), 2 / std::numbers::pi * std::asin(std::sqrt(x)), 1e-13);
  }
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(IncompleteBeta, IsTheTailOfABinomial) {
  // P(Binomial(10, 0.3) >= 4)
  double tail = 0;
  for (int k = 4; k <= 10; ++k) {
    tail += std::exp(std::lgamma(11) - std::lgamma(k + 1) - std::lgamma(11 - k)) * std::pow(0.3, k) *
            std::pow(0.7, 10 - k);
  }
  EXPECT_NEAR(incomplete_beta(4, 7, 0.3), tail, 1e-13);
}

TEST(IncompleteBeta, StaysAccurateForLargeParameters) {
  EXPECT_NEAR(incomplete_beta(50'000, 50'000, 0.5), 0.5, 1e-9);
}

TEST(StudentT, AgreesWithClosedForms) {
  for (const double t : {-3.0, -0.5, 0.0, 0.7, 12.0}) {
    EXPECT_NEAR(student_t_cdf(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-13);
    EXPECT_NEAR(student_t_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-13);
  }
}

// Quantiles with closed forms (1, 2 and 4 degrees) and R's qt(0.975, n).
TEST(StudentT, QuantilesMatchTheTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), std::tan(0.475 * std::numbers::pi), 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95)), 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 3), 3.182446305, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.776445105, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 5), 2.570581836, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 10), 2.228138852, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.042272456, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.95, 10), 1.812461123, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.959964, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.025, 10), -2.228138852, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.5, 7), 0, 1e-9);
}

TEST(StudentT, InvertsItself) {
  for (const double freedom : {1.0, 2.5, 15.0, 400.0}) {
    for (const double p : {0.001, 0.2, 0.6, 0.995}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, freedom), freedom), p, 1e-10);
    }
  }
}

TEST(StudentT, RefusesWhatHasNoQuantile) {
  EXPECT_THROW(student_t_quantile(0, 3), std::invalid_argument);
  EXPECT_THROW(student_t_quantile(1, 3), std::invalid_argument);
  EXPECT_THROW(student_t_quantile(0.5, 0), std::invalid_argument);
  EXPECT_THROW(student_t_quantile(std::nan(""), 3), std::invalid_argument);
}

}  // namespace
}  // namespace bench
