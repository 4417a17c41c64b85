// What a run's results amount to when the time budget ends early.
#include "bench/commands/outcome.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bench {
namespace {

SweepPlan plan_with_a_reference_point() {
  SweepPlan plan;
  for (const char* const name : {"ready", "fed", "starved"}) {
    SweepPoint point;
    point.name = name;
    point.is_reference = plan.points.empty();
    plan.points.push_back(point);
  }
  return plan;
}

ResultDocument run_that_measured(const std::vector<std::string>& names, const std::string& fate_of_the_rest) {
  ResultDocument document;
  const SweepPlan plan = plan_with_a_reference_point();
  for (const SweepPoint& point : plan.points) {
    if (std::ranges::find(names, point.name) != names.end()) {
      document.benchmarks.emplace_back().name = point.name;
    } else {
      document.unmeasured.emplace_back().name = point.name;
      document.unmeasured.back().status = fate_of_the_rest;
    }
  }
  return document;
}

TEST(ExitCodeOfARun, IsInconclusiveWhereOnlyReferencePointsWereMeasured) {
  const SweepPlan plan = plan_with_a_reference_point();
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready"}, "skipped")), ExitCode::inconclusive);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready", "fed"}, "skipped")), ExitCode::done);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"fed"}, "skipped")), ExitCode::done);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready"}, "oom")), ExitCode::done);  // an answer
}

TEST(ExitCodeOfARun, IsInconclusiveWhereNothingWasMeasured) {
  const SweepPlan plan = plan_with_a_reference_point();
  for (const char* const fate : {"skipped", "unsupported", "oom", "error"}) {
    EXPECT_EQ(exit_code_of(plan, run_that_measured({}, fate)), ExitCode::inconclusive) << fate;
  }
  EXPECT_EQ(exit_code_of(SweepPlan{}, ResultDocument{}), ExitCode::done) << "all was predicted";
}

}  // namespace
}  // namespace bench
