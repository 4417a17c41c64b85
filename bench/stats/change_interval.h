// A change with its uncertainty, and what it allows to say. See comparison.h for the verdicts.
#pragma once

#include <map>
#include <span>

#include "bench/stats/comparison.h"
#include "bench/stats/estimate.h"

namespace bench {

// How far an interval reaches from its value, in standard errors or as a logarithm. The ends differ: a false
// slowdown fails a gate, so nine tenths of the level are spent on the lower end.
struct Reach {
  double below = 0;
  double above = 0;
};

Reach operator*(Reach reach, double factor);
// The interval of the ratio, for a change that is a logarithm.
Interval interval_of(double change, Reach reach);

// Quantiles of Student's t at one level, kept by degrees of freedom: most points have the same.
class CriticalT {
 public:
  explicit CriticalT(double level) : level_(level) {}
  Reach operator()(double freedom);

 private:
  double level_;  // both tails'
  std::map<double, Reach> kept_;
};

// Logarithms.
struct UncertainChange {
  double value = 0;
  double standard_error = 0;
  double freedom = 0;
  Reach reach;
};

// `sides` are the numbers of runs of each side, or that of the pairs; they grow in further_runs.
ChangeEstimate judge(const UncertainChange& change, double threshold, std::span<const double> sides,
                     CriticalT& critical);

}  // namespace bench
