// Variances of many points, each known from a few runs: each borrows from the others.
#pragma once

#include <span>
#include <vector>

namespace bench {

// The law that the points' variances are drawn from: freedom·scale / chi-square(freedom). Infinite freedom:
// all points have one variance. No freedom: they tell nothing of one another.
struct VariancePrior {
  double scale = 0;
  double freedom = 0;
};

struct ModeratedVariance {
  double variance = 0;
  double freedom = 0;  // of the variance, for Student's t
};

// Empirical Bayes (Smyth 2004, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3):
// an observed variance with d degrees of freedom, over the prior's scale, follows F(d, prior freedom). Scale
// and freedom are those of greatest likelihood, but the freedom is then lowered as far as the log likelihood
// stays within kLikelihoodDrop of the greatest: too large a freedom would lend a noisy point the others'
// small variance, too small a one costs power only. Variances and freedoms by point; a point with no freedom
// or a variance of 0 is passed over. Fewer than four others: no prior.
VariancePrior fit_variance_prior(std::span<const double> variances, std::span<const double> freedoms);

// (prior.freedom·prior.scale + freedom·variance) / (prior.freedom + freedom), with the sum of freedoms. A
// point whose variance is too large to come from the prior (a chance below 1/(10·points); Phipson et al. 2016
// call it hypervariable) keeps its own.
ModeratedVariance moderate(const VariancePrior& prior, double variance, double freedom, std::size_t points);

}  // namespace bench
