#include "bench/run/runner.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/run/fake_device.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

class Recorder : public RunObserver {
 public:
  void progress(const RunProgress& now) override { fractions.push_back(now.fraction); }
  void changed(const ResultDocument& document) override {
    sizes.push_back(document.benchmarks.size());
    if (on_change) {
      on_change();
    }
  }
  std::vector<double> fractions;
  std::vector<std::size_t> sizes;
  std::function<void()> on_change;
};

// Finds how many points were measured.
class FakeSweep : public Sweep {
 public:
  const SweepPlan& plan() const override { return plan_; }
  std::vector<Finding> findings(const ResultDocument& document) const override {
    ++times_asked;
    return {finding_of("measured", "points").set({static_cast<double>(document.benchmarks.size())})};
  }
  mutable int times_asked = 0;

 private:
  SweepPlan plan_;
};

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    testing::FakeWorkload::on_step = nullptr;
    testing::FakeWorkload::verdict = true;
    device_.clock = &clock_;
    settings_.time_budget = std::chrono::seconds(60);
    settings_.started = clock_.now();
    settings_.memory_cap = 1000;
    settings_.longest_repetition = std::chrono::microseconds(8);
  }
  void run(const SweepPlan& plan) {
    run_points(sweep_, plan, device_, clock_, settings_, document_, recorder_);
  }
  std::vector<std::string> measured() const {
    std::vector<std::string> names;
    for (const MeasuredPoint& point : document_.benchmarks) {
      names.push_back(point.name);
    }
    return names;
  }

  FakeSweep sweep_;
  testing::ManualClock clock_;
  testing::FakeDevice device_;
  RunSettings settings_;
  ResultDocument document_;
  Recorder recorder_;
};

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

TEST_F(RunnerTest, AFileThatCannotBeWrittenLeavesTheFindings) {
  recorder_.on_change = [] { throw UsageError("the disk is full"); };
  EXPECT_THROW(run(testing::fake_plan({1, 2})), UsageError);
  ASSERT_THAT(document_.findings, SizeIs(1));
  EXPECT_EQ(document_.findings[0].value, 1);
}

TEST_F(RunnerTest, AnInaccuratePointIsRepeatedUntilTheBudgetEnds) {
  settings_.time_budget = std::chrono::seconds(30);
  std::int64_t call = 0;
  device_.next_ns = [&call] { return 800'000'000 + 200'000'000 * (++call % 3); };
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("noisy"));
  const auto left = settings_.started + settings_.time_budget - clock_.now();
  EXPECT_LE(std::chrono::abs(left), std::chrono::seconds(3)) << "warm-up and a sample take 2 s together";
}

TEST_F(RunnerTest, ABudgetSpentOnMakingOthersReadyStillMeasuresTheReferencePoint) {
  settings_.time_budget = std::chrono::seconds(1);
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].is_reference = true;
  plan.points[1].series = "reference";
  bool spent = false;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (spec.batch == 1 && !spent) {
      spent = true;
      clock_.advance(settings_.time_budget);
    }
  };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:2"));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].reason,
            "the time budget of 1.00 s ended before it was timed; give a larger --time-budget");
}

// Such as images whose folder is gone: what was measured before stays, and the run ends with that reason.
TEST_F(RunnerTest, InputThatIsGoneEndsTheRunAndKeepsWhatWasMeasured) {
  int steps_left = 200;  // more than making all ready and one visit to each take
  testing::FakeWorkload::on_step = [&](const WorkloadSpec&) {
    if (--steps_left < 0) {
      throw UsageError("--data: nothing is left");
    }
  };
  settings_.wanted_rounds = settings_.rounds.at_most = 1000;
  EXPECT_THROW(run(testing::fake_plan({1, 2, 4, 8})), UsageError);
  EXPECT_EQ(document_.benchmarks.size() + document_.unmeasured.size(), 4U);
  EXPECT_FALSE(document_.benchmarks.empty());
  for (const UnmeasuredPoint& point : document_.unmeasured) {
    EXPECT_EQ(point.reason, "the run broke off before it was timed");
  }
  EXPECT_EQ(steps_left, -1) << "another point was tried";
}

// Making the second of two ready takes the whole budget: the first has been timed by then.
TEST_F(RunnerTest, EachReferencePointIsTimedBeforeTheNextIsMade) {
  settings_.time_budget = std::chrono::seconds(1);
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  for (const std::size_t reference : {1, 2}) {
    plan.points[reference].is_reference = true;
    plan.points[reference].series = "reference" + std::to_string(reference);
  }
  bool spent = false;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (spec.batch == 4 && !spent) {
      spent = true;
      clock_.advance(settings_.time_budget);
    }
  };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:2"));
  EXPECT_THAT(document_.unmeasured, SizeIs(2));
}

// The rest is for what the sweep proves afterwards; who gave 5 s looks for 5 s.
TEST_F(RunnerTest, PointsHaveTheirShareOfTheBudgetAndTheReasonNamesTheWhole) {
  settings_.time_budget = std::chrono::seconds(5);
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.share_of_budget = 0.35;
  device_.next_ns = [] { return 150'000'000; };  // with it all there would be room
  run(plan);
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].reason,
            "the points' 35 % of the time budget of 5.00 s has no room for 3 rounds; give a "
            "larger --time-budget");
}

TEST_F(RunnerTest, APointThatIsKnownToCostMoreThanTheBudgetIsNotTried) {
  settings_.time_budget = std::chrono::seconds(5);
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].series = "another";
  testing::configured(plan.points[1]).least = {.setup_ns = 1e9, .step_ns = 2e9};
  bool tried = false;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) { tried = tried || spec.batch == 2; };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_THAT(document_.unmeasured[0].reason, ::testing::HasSubstr("has no room for 3 rounds"));
  EXPECT_FALSE(tried);
}

// Making the first takes 3 s of 5 s; another optimizer's will take as long, and 2 s are left.
TEST_F(RunnerTest, APointWhoseNeighbourTookLongerToPrepareThanIsLeftIsNotBegun) {
  settings_.time_budget = std::chrono::seconds(5);
  SweepPlan plan = testing::fake_plan({1, 1, 2}, true);
  plan.points[1].name = "fake/another/batch:1";
  plan.points[1].series = "another";
  testing::configured(plan.points[0]).on_make = [&] { clock_.advance(std::chrono::milliseconds(2900)); };
  bool begun = false;
  testing::configured(plan.points[1]).on_make = [&] { begun = true; };
  run(plan);
  EXPECT_FALSE(begun);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  ASSERT_THAT(document_.unmeasured, SizeIs(2));
  EXPECT_THAT(document_.unmeasured[0].reason, HasSubstr("preparing it takes about 2.9"));
}

TEST_F(RunnerTest, ThePointWhosePreparationTookTheWholeBudgetIsTimedIfItIsTheFirst) {
  settings_.time_budget = std::chrono::seconds(1);
  SweepPlan plan = testing::fake_plan({1, 2});
  testing::configured(plan.points[0]).on_make = [&] { clock_.advance(settings_.time_budget); };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
}

// Six rounds of it would not fit; one does, and two batches answer more than one.
TEST_F(RunnerTest, AnOpenSeriesHasASecondPointThoughThereIsRoomForOneRoundOnly) {
  settings_.time_budget = std::chrono::seconds(20);
  device_.next_ns = [] { return 1'000'000'000; };
  run(testing::fake_plan({1, 2, 4}, true));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2"));
}

TEST_F(RunnerTest, WritesAfterEveryRepetition) {
  run(testing::fake_plan({1, 2}));
  EXPECT_GE(recorder_.sizes.size(), 6U);  // two points, three rounds
}

TEST_F(RunnerTest, UnsteadySamplesAreKeptAndFlagged) {
  std::int64_t call = 0;
  device_.next_ns = [&call] { return ++call % 2 == 0 ? 1000 : 3000; };
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("noisy"));
  EXPECT_EQ(document_.benchmarks[0].stats.rounds, settings_.rounds.at_most);
}

TEST_F(RunnerTest, AWrongAnswerIsAPointInErrorAndIsNeverTimed) {
  testing::FakeWorkload::verdict = false;
  run(testing::fake_plan({1}));
  EXPECT_THAT(document_.benchmarks, IsEmpty());
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "error");
  EXPECT_THAT(document_.unmeasured[0].reason, HasSubstr("wrong answer"));
}

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

TEST_F(RunnerTest, AnUnsupportedDtypeIsAResultWithItsReason) {
  SweepPlan plan = testing::fake_plan({1});
  plan.points[0].spec.dtype = Dtype::fp16;
  testing::configured(plan.points[0]);
  run(plan);
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "unsupported");
  EXPECT_EQ(document_.unmeasured[0].reason, "no fp16 here");
}

TEST_F(RunnerTest, ABudgetWithNoRoomSkipsTheLargePointsAndSaysSo) {
  settings_.time_budget = std::chrono::seconds(5);
  device_.next_ns = [] { return 1'000'000'000; };  // a second a step, ten at batch 10
  run(testing::fake_plan({1, 10}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].name, "fake/batch:10");
  EXPECT_EQ(document_.unmeasured[0].status, "skipped");
  EXPECT_THAT(document_.unmeasured[0].reason, HasSubstr("--time-budget"));
}

TEST_F(RunnerTest, AThrowingStepIsAnErrorAndTheOthersGoOn) {
  testing::FakeWorkload::on_step = [](const WorkloadSpec& spec) {
    if (spec.batch == 2) {
      throw std::runtime_error("the device fell over");
    }
  };
  run(testing::fake_plan({1, 2, 4}));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:4"));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "error");
  EXPECT_THAT(document_.unmeasured[0].reason, HasSubstr("fell over"));
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

TEST_F(RunnerTest, WhatCanNeverFitIsNotBlamedOnTheBudget) {
  settings_.time_budget = std::chrono::seconds(5);
  device_.next_ns = [] { return 1'000'000'000; };
  run(testing::fake_plan({1, 1'000'000}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "oom");
}

// A second of tuning in each point's first step, then a microsecond a step: the budget has room for all.
TEST_F(RunnerTest, TuningInTheFirstStepIsNoMeasureOfTheNext) {
  device_.tunes = true;
  std::set<std::int64_t> tuned;
  std::int64_t batch = 0;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) { batch = spec.batch; };
  device_.next_ns = [&] { return tuned.insert(batch).second ? 1'000'000'000 : 1000; };
  settings_.time_budget = std::chrono::seconds(30);  // not if a step took a second
  run(testing::fake_plan({1, 2, 4, 8}));
  EXPECT_THAT(document_.unmeasured, IsEmpty());
  ASSERT_EQ(document_.benchmarks.size(), 4U);
  for (const MeasuredPoint& point : document_.benchmarks) {
    EXPECT_EQ(point.stats.median_ns, 1000) << point.name;
  }
}

TEST_F(RunnerTest, AShortStepIsNeverJudgedByOneSample) {
  settings_.longest_repetition = std::chrono::nanoseconds(1);
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].round_sizes, ::testing::Each(::testing::Ge(3)));
}

// The budget goes on making the points ready; steps of 1 µs are sampled all the same.
TEST_F(RunnerTest, ShortStepsAreSampledOftenThoughTheBudgetHasNothingLeftOver) {
  settings_.time_budget = std::chrono::milliseconds(600);
  settings_.longest_repetition = std::chrono::milliseconds(500);
  SweepPlan plan = testing::fake_plan({1, 2});
  for (SweepPoint& point : plan.points) {
    testing::configured(point).on_make = [&] { clock_.advance(std::chrono::milliseconds(60)); };
  }
  run(plan);
  ASSERT_THAT(document_.benchmarks, SizeIs(2));
  for (const MeasuredPoint& point : document_.benchmarks) {
    EXPECT_GE(point.round_sizes.back(), settings_.rounds.samples) << point.name;
  }
}

TEST_F(RunnerTest, ThrottlingIsKeptAndNamed) {
  device_.state_now.throttle_reasons = {"sw_power_cap"};
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.benchmarks, SizeIs(1));
  EXPECT_THAT(document_.benchmarks[0].validity.flags, Contains("throttled:sw_power_cap"));
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

TEST_F(RunnerTest, ALostDeviceEndsTheRunWithItsPointInError) {
  int steps = 0;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (spec.batch == 2 && ++steps > 50) {  // its warm-up and first repetitions went well
      throw DeviceLost("illegal address");
    }
  };
  EXPECT_THROW(run(testing::fake_plan({1, 2})), DeviceLost);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].name, "fake/batch:2");
  EXPECT_EQ(document_.unmeasured[0].status, "error");
  ASSERT_THAT(document_.findings, SizeIs(1));
  EXPECT_EQ(document_.findings[0].value, 1) << "and its findings no longer count the point";
}

TEST_F(RunnerTest, APointInErrorIsNotTriedAgain) {
  document_.unmeasured.push_back({"fake/batch:2", {{"batch", 2}}, "error", "illegal address"});
  bool tried = false;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) { tried = tried || spec.batch == 2; };
  run(testing::fake_plan({1, 2, 4}));
  EXPECT_FALSE(tried);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:4"));
  EXPECT_THAT(document_.unmeasured, SizeIs(1));
}

TEST_F(RunnerTest, TimeThatEarlierProcessesSpentIsGone) {
  clock_.advance(settings_.time_budget);
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "skipped");
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
  ASSERT_THAT(document_.benchmarks, SizeIs(2));
  EXPECT_EQ(document_.benchmarks[0].memory.driver_used, 0);
  EXPECT_EQ(document_.benchmarks[1].memory.driver_used, 0);
}

}  // namespace
}  // namespace bench
