#include "stopping.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>

#include <fmt/format.h>

#include "bench/stats/random.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"

namespace bench::gate {
namespace {

constexpr double kStepNs = 1e7;  // of an undisturbed step: the clock's whole nanoseconds add no noise

// Box and Muller, so that the numbers are the same with every standard library.
double normal_draw(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
  return radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// Logarithm of the rounds' true median, over an undisturbed step. Slow rounds move it.
double true_median(const PointNoise& noise) {
  const double slow = std::log1p(noise.slow_by);
  const double sd = std::hypot(noise.round_sd, noise.sample_sd);
  double low = -slow;
  double high = slow;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    const double below = (1 - noise.slow_share) * normal_cdf(middle / sd) +
                         noise.slow_share * normal_cdf((middle - slow) / sd);
    (below < 0.5 ? low : high) = middle;
  }
  return noise.slow_share > 0 ? high : 0;
}

std::vector<std::int64_t> draw_samples(const PointNoise& noise, std::mt19937_64& engine) {
  std::vector<std::int64_t> samples;
  double chain = normal_draw(engine);
  for (std::int64_t round = 0; round < noise.most_rounds; ++round) {
    const bool slow = noise.slow_share > 0 && unit_draw(engine) < noise.slow_share;
    const double level = noise.round_sd * chain + (slow ? std::log1p(noise.slow_by) : 0);
    for (int sample = 0; sample < noise.samples; ++sample) {
      samples.push_back(std::llround(kStepNs * std::exp(level + noise.sample_sd * normal_draw(engine))));
    }
    chain = noise.phi * chain + std::sqrt(1 - noise.phi * noise.phi) * normal_draw(engine);
  }
  return samples;
}

}  // namespace

StopTally run_stop_trials(const PointNoise& noise, std::int64_t trials, std::uint64_t seed) {
  const double truth = kStepNs * std::exp(true_median(noise));
  std::mt19937_64 engine(seed);
  StopTally tally;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    const std::vector<std::int64_t> samples = draw_samples(noise, engine);
    SampleStats stats;
    for (std::int64_t rounds = 1; rounds <= noise.most_rounds && !StopRule::precise(stats); ++rounds) {
      if (is_look(rounds) || rounds == noise.most_rounds) {
        const auto taken = std::span(samples).first(static_cast<std::size_t>(rounds * noise.samples));
        stats = summarize(taken, std::vector<std::int64_t>(static_cast<std::size_t>(rounds), noise.samples));
      }
    }
    const bool holds = stats.ci95_ns && stats.ci95_ns->low <= truth && truth <= stats.ci95_ns->high;
    const bool precise = StopRule::precise(stats);
    tally.precise.add(precise);
    tally.wrong.add(precise && !holds);
    if (!precise) {
      tally.covered.add(holds);
    }
    tally.rounds += static_cast<double>(stats.rounds) / static_cast<double>(trials);
  }
  return tally;
}

std::vector<PointNoise> goal_rows() {
  return {
      {.name = "independent samples 1 %, 16 a round", .samples = 16, .sample_sd = 0.01},
      {.name = "independent samples 1 %, 1 a round", .sample_sd = 0.01},
      {.name = "between rounds 1 %, 3 samples", .round_sd = 0.01, .samples = 3, .sample_sd = 0.003},
      {.name = "2 %, one sample a round", .most_rounds = 8, .sample_sd = 0.02},
      {.name = "2 %, one sample a round", .most_rounds = 12, .sample_sd = 0.02},
      {.name = "AR(1) between rounds, phi 0.8, 1 %", .most_rounds = 20, .round_sd = 0.01, .phi = 0.8},
      {.name = "30 % slow rounds, +10 %, 0.3 %", .most_rounds = 12, .round_sd = 0.003, .slow_share = 0.3},
      {.name = "30 % slow rounds, +10 %, 1 %", .most_rounds = 12, .round_sd = 0.01, .slow_share = 0.3},
  };
}

std::vector<PointNoise> neighbour_rows() {
  std::vector<PointNoise> rows;
  for (const double phi : {0.0, 0.5, 0.7, 0.8, 0.9}) {
    for (const double sd : {0.003, 0.005, 0.007, 0.01, 0.014, 0.02, 0.03}) {
      for (const std::int64_t most : {20, 40}) {
        rows.push_back({.name = fmt::format("AR(1), phi {}, {:.1f} %", phi, sd * 100),
                        .most_rounds = most,
                        .round_sd = sd,
                        .phi = phi});
      }
    }
  }
  for (const double share : {0.1, 0.3, 0.4, 0.45}) {
    for (const double by : {0.02, 0.05, 0.1, 0.3}) {
      for (const double sd : {0.001, 0.005}) {
        rows.push_back({.name = fmt::format("{:.0f} % slow rounds, +{:.0f} %, {:.1f} %", share * 100,
                                            by * 100, sd * 100),
                        .round_sd = sd,
                        .slow_share = share,
                        .slow_by = by});
      }
    }
  }
  return rows;
}

}  // namespace bench::gate
