#include "bench/stats/round_interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "bench/stats/statistics.h"
#include "bench/stats/student_t.h"

namespace bench {
namespace {

// tools/gate/stop_rule.cpp measures what these constants bring: at most 5 % of all points are called precise
// and wrong, over the correlations, spreads and shapes of noise listed there.
constexpr double kIndependent = 0.6;  // weight of lag-1 correlation 0, before the rounds are seen
constexpr double kStrongest = 0.97;   // lag-1 correlation
constexpr std::size_t kCorrelations = 7;
constexpr double kOfMedian = 1.2;  // standard error of a median over that of a trimmed mean

// The rounds about their median, the extreme ones drawn in.
struct Winsorised {
  std::vector<double> values;  // in the order taken
  double kept = 0;             // rounds that were not drawn in
};

Winsorised winsorise(std::span<const double> values, std::span<const double> ascending, double center) {
  const std::size_t n = values.size();
  const std::size_t drawn = n < 5 ? 0 : n / 5;
  Winsorised winsorised{.values = {}, .kept = static_cast<double>(n - 2 * drawn)};
  for (const double value : values) {
    winsorised.values.push_back(std::clamp(value, ascending[drawn], ascending[n - 1 - drawn]) - center);
  }
  // Drawing in makes the spread smaller than that of a trimmed mean's rounds.
  const double scale = static_cast<double>(n) / winsorised.kept;
  std::ranges::for_each(winsorised.values, [scale](double& value) { value *= scale; });
  return winsorised;
}

// AR(1) rounds of a given lag-1 correlation, their mean unknown: generalised least squares.
struct Autoregression {
  double squares = 0;  // of the innovations
  double weight = 0;   // variance of the mean: squares / (n - 1) / weight
};

Autoregression regress(std::span<const double> values, double correlation) {
  const double first = 1 - correlation * correlation;
  const double step = 1 - correlation;
  Autoregression fit{.weight = first + static_cast<double>(values.size() - 1) * step * step};
  double sum = first * values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    sum += step * (values[i] - correlation * values[i - 1]);
  }
  const double mean = sum / fit.weight;
  fit.squares = first * (values[0] - mean) * (values[0] - mean);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double innovation = values[i] - correlation * values[i - 1] - step * mean;
    fit.squares += innovation * innovation;
  }
  return fit;
}

// Effective rounds of n with that lag-1 correlation: independent rounds whose mean varies as much, compared
// with the spread that the rounds show.
double independent_rounds(std::size_t n, double correlation) {
  const auto count = static_cast<double>(n);
  double sum = count;
  double power = correlation;
  for (std::size_t lag = 1; lag < n; ++lag) {
    sum += 2 * static_cast<double>(n - lag) * power;
    power *= correlation;
  }
  const double shared = sum / (count * count);  // variance of the mean over that of a round
  return count * (1 - shared) / ((count - 1) * shared);
}

// 0, then evenly spaced in Fisher's z.
double correlation_at(std::size_t index) {
  return std::tanh(std::atanh(kStrongest) * static_cast<double>(index) / static_cast<double>(kCorrelations));
}

}  // namespace

RoundModel::RoundModel(std::span<const double> log_medians)
    : ascending_(log_medians.begin(), log_medians.end()) {
  const std::size_t n = log_medians.size();
  if (n < 2) {
    throw std::invalid_argument("one round does not show how rounds differ");
  }
  std::ranges::sort(ascending_);
  median_ = median(ascending_);
  effective_rounds_ = static_cast<double>(n);
  const auto [values, kept] = winsorise(log_medians, ascending_, median_);
  const double spread = variance(values);
  if (n < static_cast<std::size_t>(kManyRounds) || !(spread > 0)) {
    freedom_ = kept - 1;
    alternatives_ = {{.weight = 1, .standard_error = std::sqrt(spread / static_cast<double>(n))}};
    return;
  }
  freedom_ = static_cast<double>(n - 1);
  std::array<double, kCorrelations + 1> logs{};  // of each alternative's likelihood and weight
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double correlation = correlation_at(i);
    const auto [squares, weight] = regress(values, correlation);
    const double prior = i == 0 ? kIndependent : (1 - kIndependent) / static_cast<double>(kCorrelations);
    logs[i] = std::log(prior) + 0.5 * std::log((1 - correlation * correlation) / weight) -
              0.5 * freedom_ * std::log(squares);
    alternatives_.push_back({.weight = 0, .standard_error = std::sqrt(squares / (freedom_ * weight))});
  }
  const double most = std::ranges::max(logs);
  double total = 0;
  for (const double log : logs) {
    total += std::exp(log - most);
  }
  effective_rounds_ = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    alternatives_[i].weight = std::exp(logs[i] - most) / total;
    effective_rounds_ += alternatives_[i].weight * independent_rounds(n, correlation_at(i));
  }
}

// The probability that the median is off by more than kOfMedian · half.
double RoundModel::tail_beyond(double half) const {
  double tail = 0;
  for (const auto& [weight, standard_error] : alternatives_) {
    if (standard_error > 0) {
      tail += 2 * weight * student_t_cdf(-half / standard_error, freedom_);
    }
  }
  return tail;
}

double RoundModel::half_width(double level) const {
  constexpr double kExact = 1e-4;
  double low = 0;
  double high = std::ranges::max(alternatives_, {}, &Alternative::standard_error).standard_error;
  while (tail_beyond(high) > 1 - level) {
    low = high;
    high *= 2;
  }
  while (high - low > kExact * high) {
    const double middle = (low + high) / 2;
    (tail_beyond(middle) > 1 - level ? low : high) = middle;
  }
  return kOfMedian * high;
}

Interval RoundModel::interval(double level) const {
  const double half = half_width(level);
  Interval interval{.low = median_ - half, .high = median_ + half};
  const std::size_t n = ascending_.size();
  if (n >= static_cast<std::size_t>(kManyRounds)) {
    // Ranks from the smallest: half of the rounds lie below the median, give or take.
    const double share = 0.5 - kNormal95 * 0.5 / std::sqrt(effective_rounds_);
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::floor(static_cast<double>(n + 1) * share)));
    interval.low = std::min(interval.low, ascending_[rank - 1]);
    interval.high = std::max(interval.high, ascending_[n - rank]);
  }
  return interval;
}

}  // namespace bench
