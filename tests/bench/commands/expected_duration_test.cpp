#include "bench/commands/expected_duration.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

ExpectedRun run_of(std::vector<double> step_ns) {
  return {.step_ns = std::move(step_ns), .rounds = {}, .budget_ns = 100e9};
}

TEST(ExpectedDuration, OfShortStepsIsThatOfTheirRounds) {
  const ExpectedDuration short_run = expected_duration(run_of({20e3, 20e3}));
  EXPECT_FALSE(short_run.by_budget);
  // One second to begin with; then 2 · 20 rounds of 4 ms, ten steps and 256 steps.
  EXPECT_NEAR(short_run.ns, 1e9 + 40 * (4e6 + 266 * 20e3), 1e7);
  ExpectedRun three = run_of({20e3, 20e3});
  three.asked_rounds = 3;
  EXPECT_NEAR(expected_duration(three).ns, 1e9 + 6 * (4e6 + 266 * 20e3), 1e7);
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

TEST(ExpectedDuration, GrowsWithTheLoad) {
  EXPECT_DOUBLE_EQ(slowdown_by_load(0.3, 2), 1);
  EXPECT_DOUBLE_EQ(slowdown_by_load(7, 2), 4);
  ExpectedRun run = run_of({20e3});
  const double idle_ns = expected_duration(run).ns;
  run.slowdown = 4;
  EXPECT_DOUBLE_EQ(expected_duration(run).ns, 4 * idle_ns);
}

}  // namespace
}  // namespace bench
