// The same machine measured again: noise must not change what the batch sweep advises.
#include "batch_machine.h"

#include <cmath>
#include <map>
#include <string>

#include "bench/stats/saturation.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr int kRepeats = 120;

// Rounds of a machine whose step times deviate by `noise`, normally on a logarithmic scale.
ResultDocument repeated(const Machine& machine, int rounds, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  ResultDocument document = document_of({machine}, 64);
  for (Point& point : document.points) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      double normal = -6;
      for (int i = 0; i < 12; ++i) {  // of deviation 1
        normal += unit_draw(engine);
      }
      times.push_back((machine.t0_ns + point.items_per_step * 1e9 / machine.per_s) *
                      std::exp(machine.noise * normal));
    }
    const Estimate step = median_estimate(times);
    point.stats.median_ns = step.value;
    point.stats.ci95_ns = step.ci95;
    point.stats.rounds = rounds;
  }
  return document;
}

// How often each answer is given: "flat 1", "placed 16", "undecided".
std::map<std::string, int> answers(const Machine& machine, int rounds) {
  std::map<std::string, int> counts;
  for (int seed = 0; seed < kRepeats; ++seed) {
    const Finding advice = find(repeated(machine, rounds, seed), "recommendation");
    const std::string batch = advice.value ? " " + std::to_string(std::llround(*advice.value)) : "";
    ++counts[advice.details.at("state").get<std::string>() + batch];
  }
  return counts;
}

int of_state(const std::map<std::string, int>& counts, SaturationState state) {
  int sum = 0;
  for (const auto& [answer, count] : counts) {
    sum += answer.starts_with(name_of(state)) ? count : 0;
  }
  return sum;
}

constexpr int kNearlyAll = kRepeats * 95 / 100;

TEST(BatchNoise, AFlatCurveIsFlatInRepeatedRuns) {
  for (const double noise : {0.005, 0.01, 0.02}) {
    for (const int rounds : {5, 10, 20}) {
      const auto counts = answers({.t0_ns = 0, .per_s = 17, .noise = noise}, rounds);
      ASSERT_TRUE(counts.contains("flat 1")) << noise << ' ' << rounds;
      EXPECT_GE(counts.at("flat 1"), kNearlyAll) << noise << ' ' << rounds;
    }
  }
}

TEST(BatchNoise, AFlatCurveBelowItsNoiseIsUndecidedInRepeatedRuns) {
  for (const double noise : {0.12, 0.2, 0.4}) {
    for (const int rounds : {5, 10}) {
      const auto counts = answers({.t0_ns = 0, .per_s = 17, .noise = noise}, rounds);
      ASSERT_TRUE(counts.contains("undecided")) << noise << ' ' << rounds;
      EXPECT_GE(counts.at("undecided"), kNearlyAll) << noise << ' ' << rounds;
    }
  }
}

TEST(BatchNoise, NoNoiseMakesAFlatCurveGrow) {
  for (const double noise : {0.03, 0.05, 0.08}) {
    for (const int rounds : {3, 5, 10, 20}) {
      const auto counts = answers({.t0_ns = 0, .per_s = 17, .noise = noise}, rounds);
      EXPECT_LE(of_state(counts, SaturationState::placed), kRepeats - kNearlyAll) << noise << ' ' << rounds;
    }
  }
}

// 1/3 of the throughput at batch 1.
TEST(BatchNoise, ACurveThatGrowsIsPlacedInRepeatedRuns) {
  for (const double noise : {0.01, 0.03, 0.05}) {
    const auto counts = answers({.t0_ns = 2e9 / 17, .per_s = 17, .noise = noise}, 5);
    EXPECT_GE(of_state(counts, SaturationState::placed), kNearlyAll) << noise;
  }
  for (const double noise : {0.1, 0.2, 0.4}) {
    const auto counts = answers({.t0_ns = 2e9 / 17, .per_s = 17, .noise = noise}, 5);
    EXPECT_EQ(of_state(counts, SaturationState::flat), 0) << noise;
  }
}

}  // namespace
}  // namespace bench
