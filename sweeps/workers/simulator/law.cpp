#include "sweeps/workers/simulator/law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>

#include <Eigen/Dense>

#include "bench/measure/random.h"
#include "bench/measure/statistics.h"

namespace bench::simulator {
namespace {

// a / rate is linear in 1/λ, σ/λ and κ/λ.
std::array<double, 3> terms(double active) {
  const double a = std::max(active, 1.0);
  return {1, a - 1, a * (a - 1)};
}

constexpr double kHalfOfCi95 = 1.96;  // standard errors, of a normal distribution

double deviation_of(const CapacityPoint& point) {
  return std::max(0.0, point.ci95.high - point.ci95.low) / (2 * kHalfOfCi95);
}

// Standard error as a part of the rate.
double error_of(const CapacityPoint& point) {
  constexpr double kSurest = 1e-3;
  return std::max(kSurest, deviation_of(point) / point.samples_per_s);
}

// A single window has no interval: it gets the widest of the other points', or this one where there is none.
std::vector<CapacityPoint> with_intervals(std::span<const CapacityPoint> points) {
  constexpr double kDefault = 0.05;
  double widest = 0;
  for (const CapacityPoint& point : points) {
    widest = std::max(widest, deviation_of(point) / point.samples_per_s);
  }
  const double half = kHalfOfCi95 * (widest > 0 ? widest : kDefault);
  std::vector<CapacityPoint> all(points.begin(), points.end());
  for (CapacityPoint& point : all) {
    if (!(deviation_of(point) > 0)) {
      point.ci95 = {point.samples_per_s * (1 - half), point.samples_per_s * (1 + half)};
    }
  }
  return all;
}

// Weighted least squares for the terms in use; nullopt where the points cannot separate them.
std::optional<std::array<double, 3>> solve(std::span<const CapacityPoint> points,
                                           const std::array<bool, 3>& used) {
  const auto columns = std::ranges::count(used, true);
  Eigen::MatrixXd rows(std::ssize(points), columns);
  Eigen::VectorXd values(std::ssize(points));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const CapacityPoint& point = points[static_cast<std::size_t>(i)];
    const double y = point.active / point.samples_per_s;
    const double weight = 1 / (error_of(point) * y);
    Eigen::Index column = 0;
    for (std::size_t term = 0; term < 3; ++term) {
      if (used[term]) {
        rows(i, column++) = weight * terms(point.active)[term];
      }
    }
    values(i) = weight * y;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(rows);
  if (solver.rank() < columns) {
    return std::nullopt;
  }
  const Eigen::VectorXd solved = solver.solve(values);
  std::array<double, 3> solution{};
  Eigen::Index column = 0;
  for (std::size_t term = 0; term < 3; ++term) {
    solution[term] = used[term] ? solved(column++) : 0;
  }
  return solution;
}

// Sum of squares of the relative errors, in standard errors of the points.
double squares(std::span<const CapacityPoint> points, const ScalabilityLaw& law) {
  double sum = 0;
  for (const CapacityPoint& point : points) {
    sum += std::pow((law.at(point.active) / point.samples_per_s - 1) / error_of(point), 2);
  }
  return sum;
}

// The subset of {σ, κ} that fits best without a negative term. κ decides what many workers on many cores
// would do: it is used only where it is significant.
ScalabilityLaw fit_within_cores(std::span<const CapacityPoint> points, double cores) {
  constexpr std::array<std::array<bool, 3>, 4> kSubsets{
      {{true, false, false}, {true, true, false}, {true, false, true}, {true, true, true}}};
  std::optional<ScalabilityLaw> best;
  double least = 0;
  for (const auto& used : kSubsets) {
    const auto solution = solve(points, used);
    if (!solution || (*solution)[0] <= 0 || (*solution)[1] < 0 || (*solution)[2] < 0) {
      continue;
    }
    const ScalabilityLaw law{.one = 1 / (*solution)[0],
                             .sigma = (*solution)[1] / (*solution)[0],
                             .kappa = (*solution)[2] / (*solution)[0],
                             .cores = cores};
    const double error = squares(points, law);
    constexpr double kSignificant = 4;  // two standard errors, squared
    if (!best || error < least - (used[2] ? kSignificant : 1e-12)) {
      best = law;
      least = error;
    }
  }
  return best.value_or(ScalabilityLaw{.cores = cores});
}

// The cost of a doubling beyond the cores, where it is significant.
double oversubscription_of(std::span<const CapacityPoint> within, std::span<const CapacityPoint> beyond,
                           const ScalabilityLaw& law) {
  const double full = law.at(law.cores);
  double full_error = std::numeric_limits<double>::infinity();  // of the nearest to all cores, as a part
  double nearest = 0;
  for (const CapacityPoint& point : within) {
    if (point.active > nearest) {
      nearest = point.active;
      full_error = error_of(point);
    }
  }
  double numerator = 0;
  double denominator = 0;
  double excesses = 0;
  double variance = 0;
  for (const CapacityPoint& point : beyond) {
    const double excess = std::log2(point.active / law.cores);
    numerator += excess * (full / point.samples_per_s - 1);
    denominator += excess * excess;
    const double ratio = full / point.samples_per_s;
    excesses += excess * ratio;
    variance += std::pow(excess * ratio * error_of(point), 2);
  }
  const double penalty = numerator / denominator;
  const double error = std::sqrt(variance + std::pow(excesses * full_error, 2)) / denominator;
  constexpr double kStandardErrors = 2;
  return penalty > kStandardErrors * error ? penalty : 0;
}

ScalabilityLaw fit_once(std::span<const CapacityPoint> points, double cores) {
  std::vector<CapacityPoint> within;
  std::vector<CapacityPoint> beyond;
  for (const CapacityPoint& point : points) {
    (point.active <= cores ? within : beyond).push_back(point);
  }
  const bool at_cores = std::ranges::any_of(
      within, [&](const CapacityPoint& point) { return point.active > std::max(1.0, 0.75 * cores); });
  if (!beyond.empty() && (!at_cores || cores <= 1)) {
    // All cores were kept busy only by more workers than cores: their best rate counts as the cores'.
    CapacityPoint shared = beyond.front();
    for (const CapacityPoint& point : beyond) {
      shared = point.samples_per_s > shared.samples_per_s ? point : shared;
    }
    shared.active = cores;
    within.push_back(shared);
  }
  ScalabilityLaw law = fit_within_cores(within, cores);
  if (beyond.empty()) {
    return law;
  }
  law.oversubscription = oversubscription_of(within, beyond, law);
  if (law.oversubscription <= 0) {
    // No penalty: these points too show what the cores give.
    for (CapacityPoint point : beyond) {
      point.active = cores;
      within.push_back(point);
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
  const std::vector<CapacityPoint> points = with_intervals(measured);
  LawFit fit;
  fit.law = fit_once(points, cores);
  for (const CapacityPoint& point : points) {
    fit.worst_error = std::max(fit.worst_error, std::abs(fit.law.at(point.active) / point.samples_per_s - 1));
    fit.beyond_cores = fit.beyond_cores || point.active > cores;
    fit.largest_active = std::max(fit.largest_active, point.active);
  }
  constexpr int kRefits = 200;
  std::mt19937_64 engine(stream_seed(seed, 0x1A3));
  std::vector<double> one;
  std::vector<double> sigma;
  std::vector<double> kappa;
  for (int refit = 0; refit < kRefits; ++refit) {
    std::vector<CapacityPoint> drawn(points.begin(), points.end());
    for (CapacityPoint& point : drawn) {
      point.samples_per_s = std::max(0.05 * point.samples_per_s,
                                     point.samples_per_s + deviation_of(point) * normal_draw(engine));
    }
    const ScalabilityLaw law = fit_once(drawn, cores);
    one.push_back(law.one);
    sigma.push_back(law.sigma);
    kappa.push_back(law.kappa);
  }
  const auto interval = [](const std::vector<double>& drawn, double value) {
    return Interval{std::min(quantile(drawn, 0.025), value), std::max(quantile(drawn, 0.975), value)};
  };
  fit.one_ci95 = interval(one, fit.law.one);
  fit.sigma_ci95 = interval(sigma, fit.law.sigma);
  fit.kappa_ci95 = interval(kappa, fit.law.kappa);
  return fit;
}

}  // namespace bench::simulator
