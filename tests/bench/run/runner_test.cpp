// Order of the runner's rounds, its repetitions and the flags of what they measured.
#include <algorithm>
#include <iterator>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/host/interrupt.h"
#include "bench/run/machine_watch.h"
#include "bench/run/point_preparer.h"
#include "bench/run/verification_cost.h"
#include "bench/stats/round_interval.h"
#include "bench/stats/statistics.h"
#include "tests/bench/run/runner_fixture.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using testing::RunnerTest;
using ::testing::SizeIs;

TEST_F(RunnerTest, MeasuresEveryPointInPlanOrderWhateverTheShuffle) {
  run(testing::fake_plan({1, 2, 4, 8}));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4", "fake/batch:8"));
  for (const Point& point : document_.points) {
    EXPECT_EQ(point.stats.rounds, kManyRounds) << point.name << " stops at the first look";
    EXPECT_EQ(point.stats.median_ns, 1000);
    EXPECT_THAT(point.validity.flags, IsEmpty());
    EXPECT_EQ(point.memory.peak_predicted, point.memory.peak_measured);
    const std::vector<std::int64_t> sizes = round_sizes(point);
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}),
              static_cast<std::int64_t>(point.samples_ns.size()));
  }
}

TEST_F(RunnerTest, MeasuredPointsComeBeforePlannedOnes) {
  set_modelled_points(document_, {{.name = "planned", .params = {}, .origin = Origin::planned}});
  run(testing::fake_plan({1, 2}));
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "planned"));
}

// Each is timed as soon as it is ready; the reference point first, though it is larger.
TEST_F(RunnerTest, APointIsTimedBeforeTheNextIsMadeAndTheReferencePointIsFirst) {
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8});
  plan.points[2].is_reference = true;
  plan.points[2].series = "reference";
  std::vector<std::int64_t> batches;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (batches.empty() || batches.back() != spec.batch) {
      EXPECT_EQ(document_.points.size(), std::min<std::size_t>(batches.size(), 4));
      batches.push_back(spec.batch);
    }
  };
  run(plan);
  ASSERT_GE(batches.size(), 8U);
  EXPECT_THAT(std::vector(batches.begin(), batches.begin() + 4), ElementsAre(4, 1, 2, 8));
  for (const Point& point : document_.points) {
    EXPECT_EQ(std::ssize(point.rounds), kManyRounds) << point.name;
  }
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4", "fake/batch:8"));
}

TEST_F(RunnerTest, TheFirstRepetitionTakesTheWorkloadThatWasVerified) {
  int made = 0;
  SweepPlan plan = testing::fake_plan({1});
  testing::configured(plan.points[0]).on_make = [&] { ++made; };
  run(plan);
  EXPECT_EQ(document_.points[0].stats.rounds, kManyRounds);
  EXPECT_EQ(made, kManyRounds);
}

TEST_F(RunnerTest, FindingsAreComputedOnceARoundAndWhenTheRunEnds) {
  run(testing::fake_plan({1, 2, 4, 8}));
  EXPECT_EQ(std::ssize(recorder_.sizes), 4 * kManyRounds + 1)
      << "written after each repetition, and at the end";
  EXPECT_LE(sweep_.times_asked, kManyRounds + 2);
  ASSERT_THAT(document_.findings, SizeIs(1));
  EXPECT_EQ(document_.findings[0].value, 4);
}

TEST_F(RunnerTest, UnsteadySamplesAreKeptAndFlagged) {
  int made = 0;  // once a round
  SweepPlan plan = testing::fake_plan({1});
  testing::configured(plan.points[0]).on_make = [&] { ++made; };
  device_.next_ns = [&made] { return made % 2 == 0 ? 1000 : 3000; };
  run(plan);
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("noisy"));
  EXPECT_EQ(document_.points[0].stats.rounds, settings_.rounds.at_most);
}

TEST_F(RunnerTest, TellsWhatVerificationTook) {
  std::int64_t ms = 0;
  testing::FakeWorkload::on_verify = [&] { clock_.advance(++ms * 1'000'000); };
  run(testing::fake_plan({1, 2}));
  EXPECT_THAT(recorder_.verifications, ElementsAre(Pair("fake/batch:1", 1e6), Pair("fake/batch:2", 2e6)));
}

TEST_F(RunnerTest, AVerificationThatFailsTookTimeToo) {
  testing::FakeWorkload::verdict = false;
  testing::FakeWorkload::on_verify = [&] { clock_.advance(3'000'000); };
  run(testing::fake_plan({1}));
  EXPECT_THAT(document_.points, IsEmpty());
  EXPECT_THAT(recorder_.verifications, ElementsAre(Pair("fake/batch:1", 3e6)));
}

TEST(VerificationCost, NamesThePointThatTookLongest) {
  VerificationCost cost;
  EXPECT_EQ(cost.text(), "");
  cost.add("resnet50/train/fp16/1", 2e9);
  EXPECT_EQ(cost.text(), "verification took 2.00 s for 1 point, at most 2.00 s, of resnet50/train/fp16/1");
  cost.add("resnet50/train/fp16/64", 3e9);
  cost.add("resnet50/train/fp16/16", 1e9);
  EXPECT_EQ(cost.text(), "verification took 6.00 s for 3 points, at most 3.00 s, of resnet50/train/fp16/64");
}

// Ten steps of 0.3 ms would end before a card has raised its clocks.
TEST_F(RunnerTest, WarmUpTakesFiftyMillisecondsOrTwoHundredSteps) {
  const SweepPlan plan = testing::fake_plan({1});
  const auto steps_of = [&](std::int64_t ns) {
    int steps = 0;
    testing::FakeWorkload::on_step = [&](const WorkloadSpec&) { ++steps; };
    device_.next_ns = [ns] { return ns; };
    make_warm(plan.points[0], device_, clock_, MeasureMemory::no);
    return steps;
  };
  EXPECT_EQ(steps_of(1000), 200);
  EXPECT_EQ(steps_of(300'000), 167);
  EXPECT_EQ(steps_of(10'000'000), 5);
  EXPECT_EQ(steps_of(1'000'000'000), 1);
}

TEST_F(RunnerTest, FasterThanThePeakIsFlagged) {
  device_.peaks_now.flops_per_s = 1e8;  // the step claims 1e3 operations in 1 µs: 1e9 a second
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("above_peak"));
}

TEST_F(RunnerTest, APeakMeasuredTooLowIsMeasuredAgainBeforeItAccuses) {
  device_.peaks_now.flops_per_s = 1e8;
  device_.peaks_when_quiet.flops_per_s = 2e9;
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Not(Contains("above_peak")));
  EXPECT_EQ(document_.context.peaks[Dtype::fp32].flops_per_s, 2e9);
}

TEST_F(RunnerTest, APeakMeasuredAmongOtherWorkDropsNoPoint) {
  device_.peaks_now.flops_per_s = 1e8;
  device_.state_now.throttle_reasons = {"cpu_contention"};
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Not(Contains("above_peak")));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("throttled:cpu_contention"));
}

TEST_F(RunnerTest, AShortStepIsNeverJudgedByOneSample) {
  settings_.longest_repetition = std::chrono::nanoseconds(1);
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(round_sizes(document_.points[0]), ::testing::Each(::testing::Ge(3)));
}

TEST_F(RunnerTest, ThrottlingIsKeptAndNamed) {
  device_.state_now.throttle_reasons = {"sw_power_cap"};
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("throttled:sw_power_cap"));
}

// Its own threads wait for each other: that shows no other program.
TEST_F(RunnerTest, ContentionIsNoFlagOfAPointThatOversubscribesTheCores) {
  device_.state_now.throttle_reasons = {"cpu_contention", "sw_power_cap"};
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].oversubscribes_cores = true;
  run(plan);
  ASSERT_THAT(document_.points, SizeIs(2));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("throttled:cpu_contention"));
  EXPECT_THAT(document_.points[1].validity.flags,
              ::testing::AllOf(Contains("throttled:sw_power_cap"),
                               ::testing::Not(Contains("throttled:cpu_contention"))));
}

TEST_F(RunnerTest, ARoundSaysWhenItWasTakenAndWhatTheMachineDidMeanwhile) {
  device_.state_now = {
      .clock_mhz = 1500, .temperature_c = 60, .power_w = 70, .throttle_reasons = {"sw_power_cap"}};
  MachineWatch watch(
      Calibrator({{"host", [] { return Calibration{.arithmetic_ns = 5, .copy_ns = 6}; }}}, clock_),
      CpuUsageWatch([] { return std::optional<CpuTimes>(); }, 2), [] { return 1.5; });
  settings_.session = {.index = 1, .started = clock_.now(), .watch = &watch};
  document_.sessions.resize(2);
  clock_.advance(std::chrono::seconds(1));
  run(testing::fake_plan({1, 2}));
  ASSERT_THAT(document_.points, SizeIs(2));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const Point& point : document_.points) {
    for (const MeasuredRound& round : point.rounds) {
      EXPECT_EQ(round.session, 1);
      EXPECT_GE(round.start_ns, 1'000'000'000);
      EXPECT_TRUE(round.cpu_time_ns);
      EXPECT_EQ(round.clock_mhz, 1500);
      EXPECT_EQ(round.temperature_c, 60);
      EXPECT_EQ(round.power_w, 70);
      EXPECT_THAT(round.throttled, ElementsAre("sw_power_cap"));
      EXPECT_EQ(round.load, 1.5);
      EXPECT_EQ(round.calibration.at("host").copy_ns, 6);
      EXPECT_THAT(round.disturbed, ElementsAre("throttled"));
      places.emplace_back(round.round, round.order);
    }
    EXPECT_THAT(point.validity.flags, Not(Contains("disturbed"))) << "throttled says it already";
    EXPECT_TRUE(std::ranges::is_sorted(point.rounds, {}, &MeasuredRound::start_ns));
  }
  std::ranges::sort(places);
  for (std::size_t i = 0; i < places.size(); ++i) {  // two a round, one after the other
    EXPECT_EQ(places[i], std::pair(static_cast<std::int64_t>(i / 2), static_cast<std::int64_t>(i % 2)));
  }
}

TEST_F(RunnerTest, FinishedPointsOfAnEarlierRunAreKeptAndUnfinishedOnesGoOn) {
  run(testing::fake_plan({1, 2}));
  const std::vector<std::int64_t> finished = document_.points[0].samples_ns;
  Point& half = document_.points[1];
  half.samples_ns = {1000, 1000};
  half.rounds = rounds_of({2});
  half.stats = summarize(half.samples_ns, round_sizes(half));
  run(testing::fake_plan({1, 2}));
  EXPECT_EQ(document_.points[0].samples_ns, finished);
  EXPECT_GE(document_.points[1].stats.rounds, 3);
  EXPECT_THAT(document_.points, SizeIs(2));
}

// Interrupted at any moment, a run that goes on ends with the rounds that it would have had.
TEST_F(RunnerTest, GoesOnToTheRoundsOfAnUninterruptedRun) {
  int made = 0;  // never precise
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  for (SweepPoint& point : plan.points) {
    testing::configured(point).on_make = [&made] { ++made; };
  }
  device_.next_ns = [&made] { return made % 2 == 0 ? 1000 : 3000; };
  settings_.rounds.at_most = 12;
  const auto rounds = [&] {
    std::vector<std::int64_t> counts;
    for (const Point& point : document_.points) {
      EXPECT_EQ(std::ssize(point.rounds), point.stats.rounds) << point.name;
      counts.push_back(point.stats.rounds);
    }
    return counts;
  };
  run(plan);
  ASSERT_THAT(rounds(), ElementsAre(12, 12, 12));
  for (int repetitions = 1; repetitions <= 36; ++repetitions) {
    document_ = {};
    int left = repetitions;
    recorder_.on_change = [&] { set_interrupted(--left <= 0); };
    run(plan);
    recorder_.on_change = nullptr;
    set_interrupted(false);
    run(plan);
    EXPECT_THAT(rounds(), ElementsAre(12, 12, 12)) << "interrupted after " << repetitions;
    const auto kept = document_.points.front().samples_ns;
    run(plan);
    EXPECT_EQ(document_.points.front().samples_ns, kept) << "there is nothing left to do";
  }
}

// Time that is left is not spent on points that are ahead.
TEST_F(RunnerTest, PointsThatAreBehindCatchUpFirst) {
  int made = 0;
  SweepPlan plan = testing::fake_plan({1, 2});
  for (SweepPoint& point : plan.points) {
    testing::configured(point).on_make = [&made] { ++made; };
  }
  device_.next_ns = [&made] { return made % 2 == 0 ? 1000 : 3000; };
  settings_.rounds.at_most = 6;
  run(testing::fake_plan({1}));
  run(plan);
  settings_.rounds.at_most = 8;
  run(plan);
  EXPECT_EQ(document_.points[0].stats.rounds, 8);
  EXPECT_EQ(document_.points[1].stats.rounds, 8);
}

// A point that is new is why the run goes on: a short budget measures it, and not the old ones once more.
TEST_F(RunnerTest, NewPointsComeBeforeThoseOfAnEarlierRun) {
  int made = 0;  // never precise
  SweepPlan old = testing::fake_plan({1, 2});
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  plan.points[0].is_reference = true;
  for (SweepPoint* point :
       {&old.points[0], &old.points[1], &plan.points[0], &plan.points[1], &plan.points[2]}) {
    testing::configured(*point).on_make = [&made] { ++made; };
  }
  device_.next_ns = [&made] { return made % 2 == 0 ? 1000 : 3000; };
  settings_.rounds.at_most = 3;
  run(old);
  const auto kept = document_.points.front().samples_ns;
  settings_.rounds.at_most = 12;
  recorder_.on_change = [] { set_interrupted(true); };
  run(plan);
  set_interrupted(false);
  ASSERT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4"));
  EXPECT_EQ(document_.points.front().samples_ns, kept);
}

// What a new, larger point is refused for says nothing of the smaller ones.
TEST_F(RunnerTest, ASmallerPointGoesOnWhereALargerNewOneDoesNotFit) {
  int made = 0;
  SweepPlan old = testing::fake_plan({1, 2});
  SweepPlan plan = testing::fake_plan({1, 2, 1024});
  for (SweepPoint* point :
       {&old.points[0], &old.points[1], &plan.points[0], &plan.points[1], &plan.points[2]}) {
    testing::configured(*point).on_make = [&made] { ++made; };
  }
  device_.next_ns = [&made] { return made % 2 == 0 ? 1000 : 3000; };
  settings_.rounds.at_most = 3;
  run(old);
  settings_.rounds.at_most = 6;
  run(plan);
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "oom");
  EXPECT_EQ(document_.points[0].stats.rounds, 6);
  EXPECT_EQ(document_.points[1].stats.rounds, 6);
}

}  // namespace
}  // namespace bench
