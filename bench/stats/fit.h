// A straight line through points, with intervals.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

struct LineFit {
  Estimate intercept;
  Estimate slope;
  double r_squared = 0;           // weighted; 1 where the line passes through every point
  std::vector<double> residuals;  // y - line, in the order given, not weighted

  double at(double x) const { return intercept.value + slope.value * x; }
};

// Weighted least squares: the a, b that minimise sum w·(y - a - b·x)². A weight is 1/variance up to a
// common factor, which the residuals give: s² = sum w·residual² / (n-2), se(b)² = s²/Sxx and
// se(a)² = s²·(1/sum w + mean(x)²/Sxx), with weighted Sxx and mean (Draper and Smith 1998,
// sections 1.4, 9.2). Intervals are Student's t with n-2 degrees of freedom; two points leave none, so have
// no interval. No weights: all 1. nullopt for fewer than two points, or where all x are the same. Throws
// std::invalid_argument for sizes that differ, a weight that is not positive, or a value not finite.
std::optional<LineFit> fit_line(std::span<const double> x, std::span<const double> y,
                                std::span<const double> weights = {});

}  // namespace bench
