#include "bench/stats/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bench/stats/round_interval.h"
#include "bench/stats/rounds.h"

namespace bench {
namespace {

constexpr double kBeyondSeen = 2;
constexpr double kPaidLevel = 0.99;  // of the interval that decides at a look

// Reorders the values.
double quantile_in_place(std::span<double> values, double probability) {
  if (values.empty()) {
    throw std::invalid_argument("a quantile of nothing");
  }
  const double position = probability * static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), at, values.end());
  const double share = position - std::floor(position);
  return share > 0 ? *at + share * (*std::min_element(at + 1, values.end()) - *at) : *at;
}

template <class Number>
double mean_of(std::span<const Number> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

using Rounds = std::vector<std::vector<double>>;

Rounds in_rounds(std::span<const double> samples, std::span<const std::int64_t> sizes) {
  Rounds rounds;
  for (const std::int64_t size : sizes) {
    if (size < 0 || static_cast<std::size_t>(size) > samples.size()) {
      throw std::invalid_argument("round sizes do not add up to the number of samples");
    }
    const auto taken = samples.first(static_cast<std::size_t>(size));
    if (size > 0) {
      rounds.emplace_back(taken.begin(), taken.end());
    }
    samples = samples.subspan(taken.size());
  }
  if (!samples.empty()) {
    throw std::invalid_argument("round sizes do not add up to the number of samples");
  }
  return rounds;
}

// In the samples' unit: nothing beyond twice what was ever seen is claimed, where one or two degrees of
// freedom and a stalled round lead to absurd ends.
Interval within_seen(const Interval& logs, double center, std::span<const double> samples) {
  const auto [least, most] = std::ranges::minmax(samples);
  return {.low = std::min(center, std::max(std::exp(logs.low), least / kBeyondSeen)),
          .high = std::max(center, std::min(std::exp(logs.high), most * kBeyondSeen))};
}

// No round's median is taken for less than `floor`.
SampleStats summarize_above(std::span<const double> samples, std::span<const std::int64_t> round_sizes,
                            double floor) {
  if (samples.empty()) {
    throw std::invalid_argument("no samples to summarize");
  }
  const Rounds rounds = in_rounds(samples, round_sizes);
  std::vector<double> medians;
  std::vector<double> logs;
  for (const auto& round : rounds) {
    medians.push_back(median(round));
    logs.push_back(std::log(std::max(medians.back(), floor)));
  }
  std::vector<double> all(samples.begin(), samples.end());

  SampleStats stats;
  stats.median_ns = median(medians);
  stats.p05_ns = quantile_in_place(all, 0.05);
  stats.p95_ns = quantile_in_place(all, 0.95);
  const double center = mean(samples);
  stats.cv = center > 0 ? std::sqrt(variance(samples)) / center : 0;
  stats.rounds = static_cast<std::int64_t>(rounds.size());
  stats.effective_rounds = static_cast<double>(rounds.size());
  if (rounds.size() < 2) {
    return stats;
  }
  const RoundModel model(logs);
  stats.effective_rounds = model.effective_rounds();
  if (is_look(stats.rounds)) {
    stats.ci95_ns = within_seen(model.interval(kPaidLevel), stats.median_ns, samples);
    if (stats.half_width() <= kPrecise) {
      stats.interval_kind = kSettled;
      return stats;
    }
  }
  stats.ci95_ns = within_seen(model.interval(0.95), stats.median_ns, samples);
  stats.interval_kind = "rounds";
  return stats;
}

}  // namespace

double quantile(std::span<const double> values, double probability) {
  std::vector<double> reordered(values.begin(), values.end());
  return quantile_in_place(reordered, probability);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double mean(std::span<const double> values) {
  return mean_of(values);
}

double mean(std::span<const std::int64_t> values) {
  return mean_of(values);
}

double variance(std::span<const double> values) {
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - center) * (value - center);
  }
  return values.size() < 2 ? 0 : squares / static_cast<double>(values.size() - 1);
}

double robust_deviation(std::span<const double> values, double center) {
  constexpr double kNormal = 1.4826;
  constexpr std::array<double, 10> kFew{1, 1, 1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107};
  std::vector<double> deviations;
  for (const double value : values) {
    deviations.push_back(std::abs(value - center));
  }
  const auto count = static_cast<double>(values.size());
  const double few = values.size() < kFew.size() ? kFew.at(values.size()) : count / (count - 0.8);
  return few * kNormal * median(deviations);
}

double combined_deviation(std::initializer_list<double> deviations) {
  double squares = 0;
  for (const double deviation : deviations) {
    squares += deviation * deviation;
  }
  return std::sqrt(squares);
}

double log_deviation(const Interval& interval, double half_width) {
  return std::log(interval.high / interval.low) / (2 * half_width);
}

Interval widened80(const Interval& interval, double value, double deviation) {
  const double factor = std::exp(kNormal80 * deviation);
  return widened80(interval, value, Interval{1 / factor, factor});
}

Interval widened80(const Interval& interval, double value, const Interval& error80) {
  const auto factor = [](double end, double error) {
    return std::exp(combined_deviation({std::log(end), std::log(error)}));
  };
  return {.low = value / factor(value / interval.low, 1 / error80.low),
          .high = value * factor(interval.high / value, error80.high)};
}

std::optional<Interval> median_interval(std::span<const double> values) {
  constexpr double kEachSide = 0.025;
  std::vector<double> ascending(values.begin(), values.end());
  std::ranges::sort(ascending);
  // The probability that at most `below` of them lie below the median.
  double chance = std::pow(0.5, static_cast<double>(ascending.size()));
  double likely = chance;
  std::size_t below = 0;
  while (2 * below + 1 < ascending.size() && likely <= kEachSide) {
    ++below;
    chance *= static_cast<double>(ascending.size() - below + 1) / static_cast<double>(below);
    likely += chance;
  }
  if (below == 0) {
    return std::nullopt;
  }
  return Interval{.low = ascending[below - 1], .high = ascending[ascending.size() - below]};
}

SampleStats summarize(std::span<const std::int64_t> samples_ns, std::span<const std::int64_t> round_sizes) {
  constexpr double kClock = 0.5;  // ns: a median of 0 is less than the clock resolves
  const std::vector<double> samples(samples_ns.begin(), samples_ns.end());
  return summarize_above(samples, round_sizes, kClock);
}

Estimate median_estimate(std::span<const double> values, std::span<const std::int64_t> round_sizes) {
  constexpr double kResolved = 1e-12;  // of the largest
  const double largest = values.empty() ? 0 : std::ranges::max(values);
  const double floor = std::max(kResolved * largest, std::numeric_limits<double>::min());
  const SampleStats stats = summarize_above(values, round_sizes, floor);
  return {.value = stats.median_ns, .ci95 = stats.ci95_ns};
}

Estimate median_estimate(std::span<const double> values) {
  return median_estimate(values, std::vector<std::int64_t>(values.size(), 1));
}

}  // namespace bench
