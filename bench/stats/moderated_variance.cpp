#include "bench/stats/moderated_variance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "bench/stats/student_t.h"

namespace bench {
namespace {

constexpr double kLikelihoodDrop = 0.1;
constexpr std::size_t kFewestVariances = 4;
constexpr double kOutlierChance = 0.1;     // expected points of a suite that are taken for hypervariable
constexpr double kMostPriorFreedom = 1e5;  // beyond it Student's t is normal

// 1 / prior freedom, from one variance for all points to none in common.
constexpr std::array kInverseFreedoms{0.0,  0.0005, 0.001, 0.002, 0.004, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04,
                                      0.05, 0.06,   0.08,  0.1,   0.12,  0.15,  0.2,  0.25,  0.3,  0.4,  0.5,
                                      0.65, 0.8,    1.0,   1.3,   1.7,   2.2,   3.0,  4.0,   6.0,  10.0};

struct Observed {
  double variance;
  double freedom;
};

struct Fit {
  double log_scale;
  double log_likelihood;
};

Fit fit_one_variance(std::span<const Observed> points) {
  double squares = 0;
  double freedom = 0;
  for (const auto& [variance, own] : points) {
    squares += own * variance;
    freedom += own;
  }
  Fit fit{.log_scale = std::log(squares / freedom), .log_likelihood = 0};
  const double scale = squares / freedom;
  for (const auto& [variance, own] : points) {
    const double half = own / 2;
    const double ratio = variance / scale;
    fit.log_likelihood += half * std::log(half) - std::lgamma(half) + half * std::log(ratio) - half * ratio;
  }
  return fit;
}

// The scale of greatest likelihood for a given prior freedom, by Newton's method from `log_scale`: the
// likelihood of the F distribution is concave in the logarithm of its scale.
Fit fit_scale(std::span<const Observed> points, double prior, double log_scale) {
  constexpr int kMostSteps = 50;
  constexpr double kLongestStep = 1;
  constexpr double kConverged = 1e-6;
  for (int step = 0; step < kMostSteps; ++step) {
    const double inverse_scale = std::exp(-log_scale);
    double slope = 0;
    double curvature = 0;
    for (const auto& [variance, own] : points) {
      const double odds = own * variance * inverse_scale / prior;
      const double share = odds / (1 + odds);
      slope += (own + prior) / 2 * share - own / 2;
      curvature += (own + prior) / 2 * share * (1 - share);
    }
    if (!(curvature > 0)) {
      break;
    }
    const double change = std::clamp(slope / curvature, -kLongestStep, kLongestStep);
    log_scale += change;
    if (std::abs(change) < kConverged) {
      break;
    }
  }
  Fit fit{.log_scale = log_scale, .log_likelihood = 0};
  const double inverse_scale = std::exp(-log_scale);
  double constant = 0;
  double constant_of = -1;
  for (const auto& [variance, own] : points) {
    if (own != constant_of) {
      constant_of = own;
      constant = std::lgamma((own + prior) / 2) - std::lgamma(own / 2) - std::lgamma(prior / 2) +
                 own / 2 * std::log(own / prior);
    }
    const double ratio = variance * inverse_scale;
    fit.log_likelihood +=
        constant + own / 2 * std::log(ratio) - (own + prior) / 2 * std::log1p(own * ratio / prior);
  }
  return fit;
}

std::vector<Observed> usable(std::span<const double> variances, std::span<const double> freedoms) {
  std::vector<Observed> points;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    if (variances[i] > 0 && freedoms[i] > 0) {
      points.push_back({.variance = variances[i], .freedom = freedoms[i]});
    }
  }
  return points;
}

// P(F(freedom, prior) > ratio).
double f_tail(double ratio, double freedom, double prior) {
  return incomplete_beta(prior / 2, freedom / 2, prior / (prior + freedom * ratio));
}

}  // namespace

VariancePrior fit_variance_prior(std::span<const double> variances, std::span<const double> freedoms) {
  const std::vector<Observed> points = usable(variances, freedoms);
  if (points.size() < kFewestVariances) {
    return {};
  }
  std::array<Fit, kInverseFreedoms.size()> fits{};
  fits[0] = fit_one_variance(points);
  for (std::size_t i = 1; i < fits.size(); ++i) {
    fits[i] = fit_scale(points, 1 / kInverseFreedoms[i], fits[i - 1].log_scale);
  }
  std::size_t at = 0;
  for (std::size_t i = 1; i < fits.size(); ++i) {
    at = fits[i].log_likelihood > fits[at].log_likelihood ? i : at;
  }
  const double least = fits[at].log_likelihood - kLikelihoodDrop;
  while (at + 1 < fits.size() && fits[at + 1].log_likelihood >= least) {
    ++at;
  }
  double inverse = kInverseFreedoms[at];
  double log_scale = fits[at].log_scale;
  if (at + 1 < fits.size()) {
    const double share =
        (fits[at].log_likelihood - least) / (fits[at].log_likelihood - fits[at + 1].log_likelihood);
    inverse += share * (kInverseFreedoms[at + 1] - inverse);
    log_scale += share * (fits[at + 1].log_scale - log_scale);
  }
  return {.scale = std::exp(log_scale), .freedom = 1 / std::max(inverse, 1 / kMostPriorFreedom)};
}

ModeratedVariance moderate(const VariancePrior& prior, double variance, double freedom, std::size_t points) {
  const ModeratedVariance own{.variance = variance, .freedom = freedom};
  if (!(prior.freedom > 0)) {
    return own;
  }
  const double chance = kOutlierChance / static_cast<double>(points);
  if (freedom > 0 && variance > prior.scale &&
      f_tail(variance / prior.scale, freedom, prior.freedom) < chance) {
    return own;
  }
  const double total = prior.freedom + freedom;
  return {.variance = (prior.freedom * prior.scale + freedom * variance) / total, .freedom = total};
}

}  // namespace bench
