#include "bench/stats/fit.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {
namespace {

void check_points(std::span<const double> x, std::span<const double> y, std::span<const double> weights) {
  if (x.size() != y.size() || (!weights.empty() && weights.size() != x.size())) {
    throw std::invalid_argument("a line needs as many x as y and weights");
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto usable = [&](double weight) { return finite(weight) && weight > 0; };
  if (!std::ranges::all_of(x, finite) || !std::ranges::all_of(y, finite) ||
      !std::ranges::all_of(weights, usable)) {
    throw std::invalid_argument("a line needs finite values and positive weights");
  }
}

}  // namespace

std::optional<LineFit> fit_line(std::span<const double> x, std::span<const double> y,
                                std::span<const double> weights) {
  check_points(x, y, weights);
  const std::size_t count = x.size();
  if (count < 2 || std::ranges::min(x) == std::ranges::max(x)) {
    return std::nullopt;
  }
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };

  double total = 0;
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += weight(i);
    mean_x += weight(i) * x[i];
    mean_y += weight(i) * y[i];
  }
  mean_x /= total;
  mean_y /= total;

  // Around the means, so that large x do not cancel the digits that matter.
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double dx = x[i] - mean_x;
    const double dy = y[i] - mean_y;
    sxx += weight(i) * dx * dx;
    sxy += weight(i) * dx * dy;
    syy += weight(i) * dy * dy;
  }

  LineFit fit;
  const double slope = sxy / sxx;
  const double intercept = mean_y - slope * mean_x;
  double unexplained = 0;
  for (std::size_t i = 0; i < count; ++i) {
    fit.residuals.push_back((y[i] - mean_y) - slope * (x[i] - mean_x));
    unexplained += weight(i) * fit.residuals.back() * fit.residuals.back();
  }
  fit.r_squared = syy > 0 ? 1 - unexplained / syy : 1;

  const double freedom = static_cast<double>(count) - 2;
  const double variance = freedom > 0 ? unexplained / freedom : 0;
  fit.slope = student_estimate(slope, std::sqrt(variance / sxx), freedom);
  fit.intercept =
      student_estimate(intercept, std::sqrt(variance * (1 / total + mean_x * mean_x / sxx)), freedom);
  return fit;
}

}  // namespace bench
