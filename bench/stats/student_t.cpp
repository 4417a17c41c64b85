#include "bench/stats/student_t.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace bench {
namespace {

// The continued fraction of DLMF 8.17.22 by Lentz's method. Converges in O(sqrt(max(a, b))) steps where
// x < (a+1)/(a+b+2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 4 * std::numeric_limits<double>::epsilon()) {
      break;
    }
  }
  return fraction;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - incomplete_beta(b, a, 1 - x);
  }
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(a, b, x) / a;
}

double student_t_cdf(double t, double freedom) {
  const double tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t < 0 ? tail : 1 - tail;
}

double student_t_quantile(double probability, double freedom) {
  if (!(probability > 0 && probability < 1) || !(freedom > 0)) {
    throw std::invalid_argument("student_t_quantile wants 0 < probability < 1 and freedom > 0");
  }
  if (probability < 0.5) {
    return -student_t_quantile(1 - probability, freedom);
  }
  double low = 0;
  double high = 1;
  while (student_t_cdf(high, freedom) < probability && std::isfinite(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    (student_t_cdf(middle, freedom) < probability ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace bench
