#include "sweeps/workers/simulator/law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include <Eigen/Dense>

#include "bench/stats/random.h"
#include "bench/stats/statistics.h"

namespace bench::simulator {
namespace {

// a / rate is linear in 1/λ, σ/λ and κ/λ, whose factors these are.
enum Term : std::uint8_t { kOne, kSigma, kKappa };

std::array<double, 3> factors(double active) {
  const double a = std::max(active, 1.0);
  return {1, a - 1, a * (a - 1)};
}

struct Rate {
  double active = 0;
  double samples_per_s = 0;
  double deviation = 0;  // standard error

  // As a part of the rate.
  double error() const {
    constexpr double kSurest = 1e-3;
    return std::max(kSurest, deviation / samples_per_s);
  }
};

// A single window has no interval: it gets the widest of the other points', or this one where there is none.
std::vector<Rate> rates_of(std::span<const CapacityPoint> points) {
  constexpr double kDefault = 0.05;
  constexpr double kCi95 = 2 * 1.96;  // standard errors, of a normal distribution
  std::vector<Rate> rates;
  double widest = 0;  // part of the rate
  for (const CapacityPoint& point : points) {
    rates.push_back({.active = point.active,
                     .samples_per_s = point.samples_per_s,
                     .deviation = std::max(0.0, point.ci95.high - point.ci95.low) / kCi95});
    widest = std::max(widest, rates.back().deviation / point.samples_per_s);
  }
  for (Rate& rate : rates) {
    if (!(rate.deviation > 0)) {
      rate.deviation = rate.samples_per_s * (widest > 0 ? widest : kDefault);
    }
  }
  return rates;
}

// Weighted least squares for the terms in use, 0 for the others; nullopt where the rates cannot separate
// them.
std::optional<std::array<double, 3>> solve(std::span<const Rate> rates, const std::vector<Term>& used) {
  Eigen::MatrixXd rows(std::ssize(rates), std::ssize(used));
  Eigen::VectorXd values(std::ssize(rates));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const Rate& rate = rates[static_cast<std::size_t>(i)];
    const double y = rate.active / rate.samples_per_s;
    const double weight = 1 / (rate.error() * y);
    for (Eigen::Index column = 0; column < rows.cols(); ++column) {
      rows(i, column) = weight * factors(rate.active)[used[static_cast<std::size_t>(column)]];
    }
    values(i) = weight * y;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(rows);
  if (solver.rank() < rows.cols()) {
    return std::nullopt;
  }
  const Eigen::VectorXd solved = solver.solve(values);
  std::array<double, 3> solution{};
  for (Eigen::Index column = 0; column < rows.cols(); ++column) {
    solution[used[static_cast<std::size_t>(column)]] = solved(column);
  }
  return solution;
}

// Sum of squares of the relative errors, in standard errors of the rates.
double squares(std::span<const Rate> rates, const ScalabilityLaw& law) {
  double sum = 0;
  for (const Rate& rate : rates) {
    sum += std::pow((law.at(rate.active) / rate.samples_per_s - 1) / rate.error(), 2);
  }
  return sum;
}

// The subset of {σ, κ} that fits best without a negative term. κ decides what many workers on many cores
// would do: it is used only where it is significant.
ScalabilityLaw fit_within_cores(std::span<const Rate> rates, double cores) {
  ScalabilityLaw best{.cores = cores};
  double least = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<Term>> subsets{
      {kOne}, {kOne, kSigma}, {kOne, kKappa}, {kOne, kSigma, kKappa}};
  for (const std::vector<Term>& used : subsets) {
    const auto solution = solve(rates, used);
    if (!solution || (*solution)[kOne] <= 0 || (*solution)[kSigma] < 0 || (*solution)[kKappa] < 0) {
      continue;
    }
    const ScalabilityLaw law{.one = 1 / (*solution)[kOne],
                             .sigma = (*solution)[kSigma] / (*solution)[kOne],
                             .kappa = (*solution)[kKappa] / (*solution)[kOne],
                             .cores = cores};
    const double error = squares(rates, law);
    constexpr double kSignificant = 4;  // two standard errors, squared
    if (error < least - (used.back() == kKappa ? kSignificant : 1e-12)) {
      best = law;
      least = error;
    }
  }
  return best;
}

// The cost of a doubling beyond the cores, where it is significant.
double oversubscription_of(std::span<const Rate> within, std::span<const Rate> beyond,
                           const ScalabilityLaw& law) {
  const double full = law.at(law.cores);
  const double full_error = std::ranges::max_element(within, {}, &Rate::active)->error();
  double numerator = 0;
  double denominator = 0;
  double excesses = 0;
  double variance = 0;
  for (const Rate& rate : beyond) {
    const double excess = std::log2(rate.active / law.cores);
    const double ratio = full / rate.samples_per_s;
    numerator += excess * (ratio - 1);
    denominator += excess * excess;
    excesses += excess * ratio;
    variance += std::pow(excess * ratio * rate.error(), 2);
  }
  const double penalty = numerator / denominator;
  const double error = std::sqrt(variance + std::pow(excesses * full_error, 2)) / denominator;
  constexpr double kStandardErrors = 2;
  return penalty > kStandardErrors * error ? penalty : 0;
}

ScalabilityLaw fit_once(std::span<const Rate> rates, double cores) {
  std::vector<Rate> within;
  std::vector<Rate> beyond;
  for (const Rate& rate : rates) {
    (rate.active <= cores ? within : beyond).push_back(rate);
  }
  const bool at_cores = std::ranges::any_of(
      within, [&](const Rate& rate) { return rate.active > std::max(1.0, 0.75 * cores); });
  if (!beyond.empty() && (!at_cores || cores <= 1)) {
    // All cores were kept busy only by more workers than cores: their best rate counts as the cores'.
    within.push_back(*std::ranges::max_element(beyond, {}, &Rate::samples_per_s));
    within.back().active = cores;
  }
  ScalabilityLaw law = fit_within_cores(within, cores);
  if (beyond.empty()) {
    return law;
  }
  law.oversubscription = oversubscription_of(within, beyond, law);
  if (law.oversubscription <= 0) {
    // No penalty: these points too show what the cores give.
    for (Rate rate : beyond) {
      rate.active = cores;
      within.push_back(rate);
    }
    law = fit_within_cores(within, cores);
  }
  return law;
}

// Normal by the sum of twelve uniforms (Irwin and Hall): the tails beyond 6 are of no interest here.
double normal_draw(std::mt19937_64& engine) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += unit_draw(engine);
  }
  return sum;
}

}  // namespace

double ScalabilityLaw::at(double active) const {
  if (active <= 1) {
    return one * std::max(active, 0.0) * std::min(1.0, cores);
  }
  const double a = std::max(1.0, std::min(active, cores));
  const double within = one * a / (1 + sigma * (a - 1) + kappa * a * (a - 1)) * std::min(1.0, cores);
  return active <= cores ? within : within / (1 + oversubscription * std::log2(active / cores));
}

double ScalabilityLaw::best(std::int64_t most_workers) const {
  double best = 0;
  for (std::int64_t active = 1; active <= std::max<std::int64_t>(1, most_workers); ++active) {
    best = std::max(best, at(static_cast<double>(active)));
  }
  return best;
}

LawFit fit_law(std::span<const CapacityPoint> measured, double cores, std::uint64_t seed) {
  const auto usable = [](const CapacityPoint& point) {
    return std::isfinite(point.active) && std::isfinite(point.samples_per_s) && point.active > 0 &&
           point.samples_per_s > 0;
  };
  if (measured.empty() || !(cores > 0) || !std::ranges::all_of(measured, usable)) {
    throw std::invalid_argument("a scalability law wants at least one point, positive rates and cores");
  }
  const std::vector<Rate> rates = rates_of(measured);
  LawFit fit{.law = fit_once(rates, cores)};
  for (const Rate& rate : rates) {
    fit.worst_error = std::max(fit.worst_error, std::abs(fit.law.at(rate.active) / rate.samples_per_s - 1));
    fit.beyond_cores = fit.beyond_cores || rate.active > cores;
    fit.largest_active = std::max(fit.largest_active, rate.active);
  }
  constexpr int kRefits = 200;
  std::mt19937_64 engine(stream_seed(seed, 0x1A3));
  for (int refit = 0; refit < kRefits; ++refit) {
    std::vector<Rate> drawn = rates;
    for (Rate& rate : drawn) {
      rate.samples_per_s =
          std::max(0.05 * rate.samples_per_s, rate.samples_per_s + rate.deviation * normal_draw(engine));
    }
    fit.refits.push_back(fit_once(drawn, cores));
  }
  const auto interval = [&](double ScalabilityLaw::*term) {
    std::vector<double> drawn;
    std::ranges::transform(fit.refits, std::back_inserter(drawn), term);
    const double value = fit.law.*term;
    return Interval{std::min(quantile(drawn, 0.025), value), std::max(quantile(drawn, 0.975), value)};
  };
  fit.one_ci95 = interval(&ScalabilityLaw::one);
  fit.sigma_ci95 = interval(&ScalabilityLaw::sigma);
  fit.kappa_ci95 = interval(&ScalabilityLaw::kappa);
  return fit;
}

}  // namespace bench::simulator
