// Points beyond the memory cap, and what a point's memory does not hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/run/runner_fixture.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using testing::RunnerTest;
using ::testing::SizeIs;

TEST_F(RunnerTest, BeyondTheCapIsOutOfMemoryAndAskedForPointsAreAllListed) {
  settings_.memory_cap = 150;
  device_.memory().set_cap(150);
  run(testing::fake_plan({1, 8, 64, 128}));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  ASSERT_THAT(document_.unmeasured, SizeIs(3));
  for (const UnmeasuredPoint& point : document_.unmeasured) {
    EXPECT_EQ(point.status, "oom");
  }
}

TEST_F(RunnerTest, AnOpenSeriesStopsAtTheCapWithOneRow) {
  settings_.memory_cap = 150;
  run(testing::fake_plan({1, 8, 64, 128}, true));
  EXPECT_THAT(document_.unmeasured, SizeIs(1));
}

TEST_F(RunnerTest, TheTrackerRefusingIsOutOfMemoryToo) {
  device_.memory().set_cap(150);
  settings_.memory_cap = 1000;  // the prediction passes
  run(testing::fake_plan({1, 8}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "oom");
  EXPECT_EQ(device_.memory().live().total(), 0);
}

// A library's tables are made once in a process, by whatever point comes first.
TEST_F(RunnerTest, WhatALibraryAllocatesOnceIsNoPointsMemory) {
  bool made = false;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec&) {
    device_.memory_used += made ? 0 : 5000;
    made = true;
  };
  SweepPlan plan = testing::fake_plan({1, 2});
  for (SweepPoint& point : plan.points) {
    testing::configured(point).library = 1;
  }
  run(plan);
  ASSERT_THAT(document_.points, SizeIs(2));
  EXPECT_EQ(document_.points[0].memory.driver_used, 0);
  EXPECT_EQ(document_.points[1].memory.driver_used, 0);
}

}  // namespace
}  // namespace bench
