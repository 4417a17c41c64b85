// Order of the runner's rounds, its repetitions and the flags of what they measured.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/run/runner_fixture.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RunnerTest;
using ::testing::SizeIs;

TEST_F(RunnerTest, MeasuresEveryPointInPlanOrderWhateverTheShuffle) {
  run(testing::fake_plan({1, 2, 4, 8}));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4", "fake/batch:8"));
  for (const MeasuredPoint& point : document_.benchmarks) {
    EXPECT_EQ(point.stats.rounds, 3) << point.name;
    EXPECT_EQ(point.stats.median_ns, 1000);
    EXPECT_THAT(point.validity.flags, IsEmpty());
    EXPECT_EQ(point.memory.peak_predicted, point.memory.peak_measured);
    EXPECT_EQ(std::accumulate(point.round_sizes.begin(), point.round_sizes.end(), std::int64_t{0}),
              static_cast<std::int64_t>(point.samples_ns.size()));
  }
}

// Each is timed as soon as it is ready; the reference point first, though it is larger.
TEST_F(RunnerTest, APointIsTimedBeforeTheNextIsMadeAndTheReferencePointIsFirst) {
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8});
  plan.points[2].is_reference = true;
  plan.points[2].series = "reference";
  std::vector<std::int64_t> batches;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (batches.empty() || batches.back() != spec.batch) {
      EXPECT_EQ(document_.benchmarks.size(), std::min<std::size_t>(batches.size(), 4));
      batches.push_back(spec.batch);
    }
  };
  run(plan);
  ASSERT_GE(batches.size(), 8U);
  EXPECT_THAT(std::vector(batches.begin(), batches.begin() + 4), ElementsAre(4, 1, 2, 8));
  for (const MeasuredPoint& point : document_.benchmarks) {
    EXPECT_EQ(point.round_sizes.size(), 3U) << point.name;
  }
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4", "fake/batch:8"));
}

TEST_F(RunnerTest, TheFirstRepetitionTakesTheWorkloadThatWasVerified) {
  int made = 0;
  SweepPlan plan = testing::fake_plan({1});
  testing::configured(plan.points[0]).on_make = [&] { ++made; };
  run(plan);
  EXPECT_EQ(document_.benchmarks[0].stats.rounds, 3);
  EXPECT_EQ(made, 3);
}

TEST_F(RunnerTest, FindingsAreComputedOnceARoundAndWhenTheRunEnds) {
  run(testing::fake_plan({1, 2, 4, 8}));
  EXPECT_EQ(recorder_.sizes.size(), 12U + 1) << "written after each repetition, and at the end";
  EXPECT_LE(sweep_.times_asked, 5);
  ASSERT_THAT(document_.findings, SizeIs(1));
  EXPECT_EQ(document_.findings[0].value, 4);
}

TEST_F(RunnerTest, UnsteadySamplesAreKeptAndFlagged) {
  std::int64_t call = 0;
  device_.next_ns = [&call] { return ++call % 2 == 0 ? 1000 : 3000; };
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("noisy"));
  EXPECT_EQ(document_.benchmarks[0].stats.rounds, settings_.rounds.at_most);
}

TEST_F(RunnerTest, FasterThanThePeakIsFlagged) {
  device_.peaks_now.flops_per_s = 1e8;  // the step claims 1e3 operations in 1 µs: 1e9 a second
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("above_peak"));
}

TEST_F(RunnerTest, APeakMeasuredTooLowIsMeasuredAgainBeforeItAccuses) {
  device_.peaks_now.flops_per_s = 1e8;
  device_.peaks_when_quiet.flops_per_s = 2e9;
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Not(Contains("above_peak")));
  EXPECT_EQ(document_.context.peaks[Dtype::fp32].flops_per_s, 2e9);
}

TEST_F(RunnerTest, AShortStepIsNeverJudgedByOneSample) {
  settings_.longest_repetition = std::chrono::nanoseconds(1);
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].round_sizes, ::testing::Each(::testing::Ge(3)));
}

TEST_F(RunnerTest, ThrottlingIsKeptAndNamed) {
  device_.state_now.throttle_reasons = {"sw_power_cap"};
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("throttled:sw_power_cap"));
}

// Its own threads wait for each other: that shows no other program.
TEST_F(RunnerTest, ContentionIsNoFlagOfAPointThatOversubscribesTheCores) {
  device_.state_now.throttle_reasons = {"cpu_contention", "sw_power_cap"};
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].oversubscribes_cores = true;
  run(plan);
  ASSERT_THAT(document_.benchmarks, SizeIs(2));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("throttled:cpu_contention"));
  EXPECT_THAT(document_.benchmarks[1].validity.flags,
              ::testing::AllOf(Contains("throttled:sw_power_cap"),
                               ::testing::Not(Contains("throttled:cpu_contention"))));
}

TEST_F(RunnerTest, FinishedPointsOfAnEarlierRunAreKeptAndUnfinishedOnesGoOn) {
  run(testing::fake_plan({1, 2}));
  const std::vector<std::int64_t> finished = document_.benchmarks[0].samples_ns;
  MeasuredPoint& half = document_.benchmarks[1];
  half.samples_ns = {1000, 1000};
  half.round_sizes = {2};
  half.stats.rounds = 1;
  run(testing::fake_plan({1, 2}));
  EXPECT_EQ(document_.benchmarks[0].samples_ns, finished);
  EXPECT_GE(document_.benchmarks[1].stats.rounds, 3);
  EXPECT_THAT(document_.benchmarks, SizeIs(2));
}

}  // namespace
}  // namespace bench
