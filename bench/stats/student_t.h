// Student's t distribution, and the incomplete beta function under it.
#pragma once

namespace bench {

// Regularized incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1, to about 1e-14 absolute.
// Also a binomial tail: P(Binomial(n, x) >= m) = I_x(m, n-m+1).
double incomplete_beta(double a, double b, double x);

// P(T <= t) with `freedom` degrees of freedom, freedom > 0.
double student_t_cdf(double t, double freedom);

// The t with P(T <= t) = probability, for probability in (0, 1).
// Throws std::invalid_argument outside, and for freedom <= 0.
double student_t_quantile(double probability, double freedom);

}  // namespace bench
