#include "bench/stats/estimate.h"

#include <cmath>
#include <stdexcept>

#include "bench/stats/statistics.h"
#include "bench/stats/student_t.h"

namespace bench {

Estimate scaled(const Estimate& estimate, double factor) {
  Estimate scaled{.value = estimate.value * factor};
  if (estimate.ci95) {
    scaled.ci95 = Interval{.low = estimate.ci95->low * factor, .high = estimate.ci95->high * factor};
  }
  return scaled;
}

Estimate inverse(const Estimate& estimate, double scale) {
  Estimate inverse{.value = scale / estimate.value, .ci95 = std::nullopt};
  if (estimate.ci95 && estimate.ci95->low > 0) {
    inverse.ci95 = Interval{.low = scale / estimate.ci95->high, .high = scale / estimate.ci95->low};
  }
  return inverse;
}

Estimate ratio(const Estimate& above, const Estimate& below) {
  Estimate ratio{.value = above.value / below.value};
  if (above.ci95 && below.ci95 && below.ci95->low > 0) {
    ratio.ci95 =
        Interval{.low = above.ci95->low / below.ci95->high, .high = above.ci95->high / below.ci95->low};
  }
  return ratio;
}

Estimate student_estimate(double value, double standard_error, double freedom) {
  if (freedom < 1) {
    return {value, std::nullopt};
  }
  const double half = student_t_quantile(0.975, freedom) * standard_error;
  return {value, Interval{value - half, value + half}};
}

Estimate mean_estimate(std::span<const double> values) {
  if (values.empty()) {
    throw std::invalid_argument("a mean of nothing");
  }
  const auto count = static_cast<double>(values.size());
  return student_estimate(mean(values), std::sqrt(variance(values) / count), count - 1);
}

}  // namespace bench
