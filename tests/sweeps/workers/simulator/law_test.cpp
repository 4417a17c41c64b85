// The scalability law on rates whose parameters are known.
#include "sweeps/workers/simulator/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace bench::simulator {
namespace {

std::vector<CapacityPoint> rates_of(const ScalabilityLaw& law, const std::vector<double>& counts,
                                    double noise = 0) {
  std::vector<CapacityPoint> points;
  double sign = 1;
  for (const double count : counts) {
    const double rate = law.at(count) * (1 + sign * noise);
    points.push_back({.active = count, .samples_per_s = rate, .ci95 = {0.98 * rate, 1.02 * rate}});
    sign = -sign;
  }
  return points;
}

TEST(ScalabilityLaw, IsGunthersUpToTheCoresAndFlatBeyond) {
  const ScalabilityLaw law{.one = 100, .sigma = 0.1, .kappa = 0.01, .cores = 4};
  EXPECT_DOUBLE_EQ(law.at(0), 0);
  EXPECT_DOUBLE_EQ(law.at(0.5), 50);
  EXPECT_DOUBLE_EQ(law.at(1), 100);
  EXPECT_DOUBLE_EQ(law.at(3), 300 / (1 + 0.2 + 0.06));
  EXPECT_DOUBLE_EQ(law.at(4), 400 / (1 + 0.3 + 0.12));
  EXPECT_DOUBLE_EQ(law.at(40), law.at(4));
  EXPECT_DOUBLE_EQ(law.speed_of_each(8), law.at(4) / 800);
}

TEST(ScalabilityLaw, LosesToWorkersBeyondTheCores) {
  const ScalabilityLaw law{.one = 100, .oversubscription = 0.02, .cores = 2};
  EXPECT_DOUBLE_EQ(law.at(32), 200 / (1 + 0.02 * 4));
  EXPECT_DOUBLE_EQ(law.best(32), 200);
}

TEST(ScalabilityLaw, GivesHalfTheRateOnHalfACore) {
  const ScalabilityLaw law{.one = 100, .cores = 0.5};
  EXPECT_DOUBLE_EQ(law.at(1), 50);
  EXPECT_DOUBLE_EQ(law.at(3), 50);
}

TEST(LawFitting, FindsExactParameters) {
  const ScalabilityLaw law{.one = 180, .sigma = 0.06, .kappa = 0.004, .oversubscription = 0.03, .cores = 8};
  const LawFit fit = fit_law(rates_of(law, {1, 2, 4, 8, 16}), 8, 1);
  EXPECT_NEAR(fit.law.one, 180, 1e-6);
  EXPECT_NEAR(fit.law.sigma, 0.06, 1e-9);
  EXPECT_NEAR(fit.law.kappa, 0.004, 1e-9);
  EXPECT_NEAR(fit.law.oversubscription, 0.03, 1e-9);
  EXPECT_LT(fit.worst_error, 1e-9);
  EXPECT_TRUE(fit.beyond_cores);
}

TEST(LawFitting, TwoPointsTellSigmaAndHaveAnInterval) {
  const ScalabilityLaw law{.one = 100, .sigma = 0.2, .cores = 2};
  const LawFit fit = fit_law(rates_of(law, {1, 2}), 2, 1);
  EXPECT_NEAR(fit.law.sigma, 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(fit.law.kappa, 0);
  EXPECT_LT(fit.sigma_ci95.low, 0.2);
  EXPECT_GT(fit.sigma_ci95.high, 0.2);
  EXPECT_LT(fit.sigma_ci95.high, 0.3);
  EXPECT_FALSE(fit.beyond_cores);
}

TEST(LawFitting, OnePointScalesWithoutLoss) {
  const LawFit fit = fit_law(rates_of({.one = 70, .cores = 4}, {1}), 4, 1);
  EXPECT_NEAR(fit.law.at(4), 280, 1e-9);
}

TEST(LawFitting, NeverGivesMoreThanInProportion) {
  // Twice the workers, 2.2 times the rate: noise, not a gift.
  const std::vector<CapacityPoint> points{{1, 100, {95, 105}}, {2, 220, {210, 230}}};
  const LawFit fit = fit_law(points, 2, 1);
  EXPECT_DOUBLE_EQ(fit.law.sigma, 0);
  EXPECT_DOUBLE_EQ(fit.law.kappa, 0);
  EXPECT_GT(fit.law.one, 100);
  EXPECT_LT(fit.law.one, 110);
}

TEST(LawFitting, WorkersBeyondTheCoresThatGiveMoreCountAsTheCores) {
  const std::vector<CapacityPoint> points{{1, 100, {99, 101}}, {2, 180, {178, 182}}, {4, 190, {188, 192}}};
  const LawFit fit = fit_law(points, 2, 1);
  EXPECT_DOUBLE_EQ(fit.law.oversubscription, 0);
  EXPECT_GT(fit.law.at(2), 182);
  EXPECT_LT(fit.law.at(2), 190);
}

TEST(LawFitting, TakesNoPenaltyFromWhatMayBeNoise) {
  const auto points_within = [](double part) {
    std::vector<CapacityPoint> points{{1, 100, {}}, {2, 196, {}}, {4, 184, {}}, {8, 181, {}}};
    for (CapacityPoint& point : points) {
      point.ci95 = {point.samples_per_s * (1 - part), point.samples_per_s * (1 + part)};
    }
    return points;
  };
  const LawFit unsure = fit_law(points_within(0.07), 2, 1);
  EXPECT_DOUBLE_EQ(unsure.law.oversubscription, 0);
  EXPECT_NEAR(unsure.law.at(8), 187, 2);  // all three tell what the cores give
  const LawFit sure = fit_law(points_within(0.01), 2, 1);
  EXPECT_GT(sure.law.oversubscription, 0.03);
}

TEST(LawFitting, TakesFractionsOfAWorkerForPartsOfTheTime) {
  // Storage keeps the only worker from computing 4/5 of the time: alone it would make 5 times as much.
  const LawFit fit = fit_law(std::vector<CapacityPoint>{{0.2, 20, {19, 21}}}, 2, 1);
  EXPECT_NEAR(fit.law.one, 100, 1e-9);
}

TEST(LawFitting, StaysNearUnderNoise) {
  const ScalabilityLaw law{.one = 100, .sigma = 0.05, .kappa = 0.01, .cores = 16};
  const LawFit fit = fit_law(rates_of(law, {1, 2, 4, 8, 16, 32}, 0.02), 16, 1);
  for (const double count : {3.0, 6.0, 12.0}) {
    EXPECT_NEAR(fit.law.at(count) / law.at(count), 1, 0.04) << count;
  }
}

TEST(LawFitting, RefusesWhatIsNoRate) {
  EXPECT_THROW(fit_law({}, 2, 1), std::invalid_argument);
  EXPECT_THROW(fit_law(std::vector<CapacityPoint>{{1, 0, {}}}, 2, 1), std::invalid_argument);
  EXPECT_THROW(fit_law(std::vector<CapacityPoint>{{1, 10, {}}}, 0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace bench::simulator
