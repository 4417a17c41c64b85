#include "count.h"

#include "bench/stats/student_t.h"

namespace bench::gate {

double Count::upper() const {
  if (hits >= of) {
    return 1;
  }
  // The share at which so few hits have a chance of 5 %: P(Binomial(of, p) <= hits) = 1 - I_p(hits+1,
  // of-hits).
  double low = 0;
  double high = 1;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    const double most =
        incomplete_beta(static_cast<double>(hits + 1), static_cast<double>(of - hits), middle);
    (1 - most > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace bench::gate
