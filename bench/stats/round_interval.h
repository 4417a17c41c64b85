// How far the median of a run's rounds may lie from the truth.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

// The first round count from which neighbouring rounds show whether they are alike.
inline constexpr std::int64_t kManyRounds = 10;

// The logarithms of a run's round medians, and what they tell of the median of their law.
//  - Scale: the rounds' standard deviation. From five rounds on, the extreme fifth on either side counts as
//    the next value inwards (winsorised; Tukey and McLaughlin 1963): one slow round of six does not decide.
//  - Below ten rounds: Student's t. From ten on, rounds close in time may be alike (an AR(1) process), and
//    few rounds do not show how much: half widths for lag-1 correlations from 0 to 0.97 are averaged, each
//    weighted by its likelihood (Berger, De Oliveira and Sansó 2001), independent rounds by 0.6 beforehand.
//  - From ten rounds on the interval also holds the order statistics of the sign test at 95 %, which
//    hold for any distribution: with fast and slow rounds the median may lie in either.
class RoundModel {
 public:
  // In the order taken; at least two.
  explicit RoundModel(std::span<const double> log_medians);

  // In logarithms. `level` as 0.95.
  Interval interval(double level) const;
  // Independent rounds that would tell as much.
  double effective_rounds() const { return effective_rounds_; }

 private:
  struct Alternative {
    double weight = 0;  // their sum is 1
    double standard_error = 0;
  };

  double tail_beyond(double half) const;
  double half_width(double level) const;

  std::vector<double> ascending_;
  double median_ = 0;
  double freedom_ = 1;
  std::vector<Alternative> alternatives_;
  double effective_rounds_ = 0;
};

}  // namespace bench
