#include "bench/commands/expected_duration.h"

#include <gtest/gtest.h>

#include "tests/bench/run/fake_device.h"

namespace bench {
namespace {

ExpectedRun run_of(const std::vector<double>& step_ns) {
  ExpectedRun run{.points = {}, .rounds = {}, .budget_ns = 100e9};
  for (const double ns : step_ns) {
    run.points.push_back({.step_ns = ns, .bytes = 1'000'000});
  }
  return run;
}

TEST(ExpectedDuration, OfShortStepsIsThatOfTheirRounds) {
  const ExpectedDuration short_run = expected_duration(run_of({20e3, 20e3}));
  EXPECT_FALSE(short_run.by_budget);
  // One second to begin with; then 2 · 28 rounds of 10 ms, a megabyte, ten steps and 256 steps.
  EXPECT_NEAR(short_run.ns, 1e9 + 56 * (11e6 + 266 * 20e3), 1e7);
  ExpectedRun three = run_of({20e3, 20e3});
  three.asked_rounds = 3;
  EXPECT_NEAR(expected_duration(three).ns, 1e9 + 6 * (11e6 + 266 * 20e3), 1e7);
}

// 200 steps of 20 µs, up to 50 ms of longer ones.
TEST(ExpectedDuration, WarmsUpAsTheRunDoes) {
  testing::FakeDevice card;
  ExpectedRun run = run_of({20e3});
  run.warm_up = WarmUp(card);
  EXPECT_NEAR(expected_duration(run).ns, 1e9 + 28 * (11e6 + 456 * 20e3), 1e7);
  EXPECT_EQ(run.warm_up.longest_ns(1e6), 51e6);
  EXPECT_EQ(run.warm_up.longest_ns(1e9), 1.05e9);
  card.tunes = true;
  EXPECT_EQ(WarmUp(card).longest_ns(1e9), 2e9);
  EXPECT_EQ(WarmUp().longest_ns(1e6), 10e6);
}

TEST(ExpectedDuration, OfLongStepsIsTheTimeBudget) {
  const ExpectedDuration whole = expected_duration(run_of({1e9, 2e9, 4e9}));
  EXPECT_TRUE(whole.by_budget);
  EXPECT_DOUBLE_EQ(whole.ns, 100e9);
}

TEST(ExpectedDuration, HasTheSweepsOwnMeasurementsAfterItsPoints) {
  ExpectedRun run = run_of({1e9, 2e9, 4e9});
  run.share_of_budget = 0.5;
  const ExpectedDuration duration = expected_duration(run);
  EXPECT_FALSE(duration.by_budget);
  EXPECT_GT(duration.ns, 50e9);
  EXPECT_LT(duration.ns, 100e9);
}

TEST(ExpectedDuration, OfManyParametersIsThatOfFillingThem) {
  ExpectedRun run = run_of({20e3});
  run.points.front().bytes = 1'000'000'000;
  EXPECT_GT(expected_duration(run).ns, 14e9);
}

// Repetitions are as long as on an idle machine: there are more of them.
TEST(ExpectedDuration, OnBusyCoresHasAllRoundsAndWaitsForEach) {
  EXPECT_FALSE(busy_by_load(1.9, 2));
  EXPECT_TRUE(busy_by_load(7, 2));
  ExpectedRun run = run_of({100e6});
  const double idle_ns = expected_duration(run).ns;
  run.cores_are_busy = true;
  const double busy_ns = expected_duration(run).ns;
  EXPECT_GT(busy_ns, 1.5 * idle_ns);
  EXPECT_LT(busy_ns, 5 * idle_ns);
}

}  // namespace
}  // namespace bench
