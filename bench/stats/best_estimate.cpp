#include "bench/stats/best_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr double kIntervalErrors = 2 * 1.96;  // standard errors of a 95 % interval

struct Candidate {
  std::size_t place = 0;
  double log = 0;
  double variance = 0;  // of the logarithm
  double low = 0;
};

bool has_interval(const Estimate& estimate) {
  return estimate.value > 0 && estimate.ci95 && estimate.ci95->low > 0 &&
         estimate.ci95->high > estimate.ci95->low;
}

// Those whose interval reaches the highest lower bound.
std::vector<Candidate> candidates_of(std::span<const Estimate> estimates) {
  double highest_low = 0;
  for (const Estimate& estimate : estimates) {
    highest_low = has_interval(estimate) ? std::max(highest_low, estimate.low()) : highest_low;
  }
  std::vector<Candidate> candidates;
  for (std::size_t place = 0; place < estimates.size(); ++place) {
    const Estimate& estimate = estimates[place];
    if (has_interval(estimate) && estimate.high() >= highest_low) {
      const double error = std::log(estimate.high() / estimate.low()) / kIntervalErrors;
      candidates.push_back({.place = place,
                            .log = std::log(estimate.value),
                            .variance = error * error,
                            .low = estimate.low()});
    }
  }
  return candidates;
}

// Each candidate weighted by its own variance and that of the true values.
double weighted_log_mean(const std::vector<Candidate>& candidates, double between) {
  double weights = 0;
  double sum = 0;
  for (const Candidate& candidate : candidates) {
    const double weight = 1 / (candidate.variance + between);
    weights += weight;
    sum += weight * candidate.log;
  }
  return sum / weights;
}

// Variance between the true values.
double between_of(const std::vector<Candidate>& candidates) {
  const double pooled = weighted_log_mean(candidates, 0);
  double weights = 0;
  double squares = 0;  // of the weights
  double spread = 0;
  for (const Candidate& candidate : candidates) {
    const double weight = 1 / candidate.variance;
    weights += weight;
    squares += weight * weight;
    spread += weight * (candidate.log - pooled) * (candidate.log - pooled);
  }
  const double room = weights - squares / weights;
  const double freedom = static_cast<double>(candidates.size()) - 1;
  return room > 0 ? std::max(0.0, (spread - freedom) / room) : 0;
}

BestEstimate drawn_best(std::span<const Estimate> estimates, const std::vector<Candidate>& candidates) {
  const double between = between_of(candidates);
  const double mean = weighted_log_mean(candidates, between);
  const Candidate* best = &candidates.front();
  double best_log = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const double kept = between / (between + candidate.variance);
    const double log = mean + kept * (candidate.log - mean);
    if (log > best_log || (log == best_log && candidate.low > best->low)) {
      best = &candidate;
      best_log = log;
    }
  }
  const Estimate& own = estimates[best->place];
  BestEstimate found{
      .estimate = scaled(own, std::exp(best_log) / own.value), .place = best->place, .rivals = {}};
  for (const Candidate& candidate : candidates) {
    if (candidate.place != best->place) {
      found.rivals.push_back(candidate.place);
    }
  }
  return found;
}

}  // namespace

std::optional<BestEstimate> best_estimate(std::span<const Estimate> estimates) {
  const std::vector<Candidate> candidates = candidates_of(estimates);
  if (candidates.size() == 1) {
    const std::size_t only = candidates.front().place;
    return BestEstimate{.estimate = estimates[only], .place = only, .rivals = {}};
  }
  if (!candidates.empty()) {
    return drawn_best(estimates, candidates);
  }
  const auto largest = std::ranges::max_element(estimates, {}, &Estimate::value);
  if (largest == estimates.end() || !(largest->value > 0)) {
    return std::nullopt;
  }
  return BestEstimate{.estimate = {.value = largest->value},
                      .place = static_cast<std::size_t>(largest - estimates.begin()),
                      .rivals = {}};
}

}  // namespace bench
