#include "bench/measure/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/measure/random.h"
#include "bench/measure/student_t.h"

namespace bench {
namespace {

constexpr double kBeyondSeen = 2;

constexpr std::size_t kResamples = 1000;
constexpr std::size_t kStrata = 256;  // reach to the 0.2 % tails of a law whose 2.5 % tails are wanted

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

// An index for each of kStrata equally likely outcomes, in ascending order.
using Strata = std::array<std::size_t, kStrata>;

// Which of n ascending values is the m-th smallest of n draws from them: it is at most the k-th value when at
// least m draws are, so P(at most k) = P(Binomial(n, k/n) >= m). Drawing from this law replaces drawing and
// sorting n values. Beyond five standard deviations of m = n/2 nothing is kept.
Strata order_statistic(std::size_t n, std::size_t m) {
  const auto width = static_cast<std::size_t>(2.5 * std::sqrt(static_cast<double>(n))) + 1;
  const std::size_t first = m > width ? m - width : 1;
  const std::size_t last = std::min(n, m + width);
  std::vector<double> at_most;  // of the values from the first to the last but one
  for (std::size_t k = first; k < last; ++k) {
    at_most.push_back(incomplete_beta(static_cast<double>(m), static_cast<double>(n - m + 1),
                                      static_cast<double>(k) / static_cast<double>(n)));
  }
  Strata indices{};
  for (std::size_t i = 0; i < kStrata; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(kStrata);
    indices[i] = first - 1 + static_cast<std::size_t>(std::ranges::upper_bound(at_most, u) - at_most.begin());
  }
  return indices;
}

// The law of the median of n draws from n values. For even n it is the mean of two neighbours in rank, drawn
// with the same uniform: exact for n = 2, and their gap vanishes as n grows.
struct MedianLaw {
  explicit MedianLaw(std::size_t n)
      : lower(order_statistic(n, (n + 1) / 2)), upper(order_statistic(n, n / 2 + 1)) {}

  std::array<double, kStrata> medians_of(std::span<const double> ascending) const {
    std::array<double, kStrata> medians{};
    for (std::size_t i = 0; i < kStrata; ++i) {
      medians[i] = (ascending[lower[i]] + ascending[upper[i]]) / 2;
    }
    return medians;
  }

  Strata lower;
  Strata upper;
};

using Rounds = std::vector<std::vector<double>>;

Rounds split_sorted(std::span<const double> samples, std::span<const std::int64_t> sizes) {
  Rounds rounds;
  for (const std::int64_t size : sizes) {
    if (size < 0 || static_cast<std::size_t>(size) > samples.size()) {
      throw std::invalid_argument("round sizes do not add up to the number of samples");
    }
    const auto taken = samples.first(static_cast<std::size_t>(size));
    if (size > 0) {
      rounds.emplace_back(taken.begin(), taken.end());
      std::ranges::sort(rounds.back());
    }
    samples = samples.subspan(taken.size());
  }
  if (!samples.empty()) {
    throw std::invalid_argument("round sizes do not add up to the number of samples");
  }
  return rounds;
}

Interval bootstrap_interval(const Rounds& rounds, std::uint64_t seed) {
  std::map<std::size_t, MedianLaw> laws;
  std::vector<std::array<double, kStrata>> redrawn_medians;
  for (const auto& round : rounds) {
    const auto law = laws.try_emplace(round.size(), round.size()).first;
    redrawn_medians.push_back(law->second.medians_of(round));
  }
  std::mt19937_64 engine(seed);
  std::vector<double> drawn(rounds.size());
  std::vector<double> medians(kResamples);
  for (double& median : medians) {
    for (double& value : drawn) {
      // Every outcome of every round is as likely as any other.
      const std::uint64_t outcome = bounded_draw(engine, rounds.size() * kStrata);
      value = redrawn_medians[outcome / kStrata][outcome % kStrata];
    }
    median = quantile_in_place(drawn, 0.5);
  }
  return {quantile_in_place(medians, 0.025), quantile_in_place(medians, 0.975)};
}

// Over the logarithms of the rounds' medians, none of them taken for less than `floor`; at least two rounds.
Interval t_interval(const Rounds& rounds, double floor) {
  std::vector<double> logs;
  for (const auto& round : rounds) {
    logs.push_back(std::log(std::max(median(round), floor)));
  }
  const Interval mean = *mean_estimate(logs).ci95;
  return {std::exp(mean.low), std::exp(mean.high)};
}

SampleStats summarize_above(std::span<const double> samples, std::span<const std::int64_t> round_sizes,
                            std::uint64_t seed, double floor) {
  if (samples.empty()) {
    throw std::invalid_argument("no samples to summarize");
  }
  const Rounds rounds = split_sorted(samples, round_sizes);
  std::vector<double> all(samples.begin(), samples.end());

  SampleStats stats;
  stats.median_ns = quantile_in_place(all, 0.5);
  stats.p05_ns = quantile_in_place(all, 0.05);
  stats.p95_ns = quantile_in_place(all, 0.95);
  const double center = mean(samples);
  stats.cv = center > 0 ? std::sqrt(variance(samples)) / center : 0;
  stats.rounds = static_cast<std::int64_t>(rounds.size());
  const Interval drawn = bootstrap_interval(rounds, seed);
  const Interval over_rounds = rounds.size() > 1 ? t_interval(rounds, floor) : drawn;
  stats.ci95_ns = {std::min({drawn.low, over_rounds.low, stats.median_ns}),
                   std::max({drawn.high, over_rounds.high, stats.median_ns})};
  // With one or two degrees of freedom and one stalled round Student's t reaches absurd ends: nothing beyond
  // twice what was ever seen is claimed.
  const auto [least, most] = std::ranges::minmax(samples);
  stats.ci95_ns.low = std::max(stats.ci95_ns.low, least / kBeyondSeen);
  stats.ci95_ns.high = std::min(stats.ci95_ns.high, most * kBeyondSeen);
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

SampleStats summarize(std::span<const std::int64_t> samples_ns, std::span<const std::int64_t> round_sizes,
                      std::uint64_t seed) {
  constexpr double kClock = 0.5;  // ns: a median of 0 is less than the clock resolves
  const std::vector<double> samples(samples_ns.begin(), samples_ns.end());
  return summarize_above(samples, round_sizes, seed, kClock);
}

Estimate median_estimate(std::span<const double> values, std::span<const std::int64_t> round_sizes,
                         std::uint64_t seed) {
  constexpr double kResolved = 1e-12;  // of the largest
  const double largest = values.empty() ? 0 : std::ranges::max(values);
  const double floor = std::max(kResolved * largest, std::numeric_limits<double>::min());
  const SampleStats stats = summarize_above(values, round_sizes, seed, floor);
  return {.value = stats.median_ns, .ci95 = stats.ci95_ns};
}

Estimate median_estimate(std::span<const double> values, std::uint64_t seed) {
  return median_estimate(values, std::vector<std::int64_t>(values.size(), 1), seed);
}

Interval throughput_interval(Interval step_ns, double items) {
  if (!(step_ns.low > 0) || !(step_ns.high >= step_ns.low)) {
    throw std::invalid_argument("a throughput wants positive times");
  }
  return {items * 1e9 / step_ns.high, items * 1e9 / step_ns.low};
}

}  // namespace bench
