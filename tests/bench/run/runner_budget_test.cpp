// What the runner begins, skips and samples within a time budget.
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/run/runner_fixture.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RunnerTest;
using ::testing::SizeIs;

TEST_F(RunnerTest, AnInaccuratePointIsRepeatedUntilTheBudgetEnds) {
  settings_.time_budget = std::chrono::seconds(30);
  std::int64_t call = 0;
  device_.next_ns = [&call] { return 800'000'000 + 200'000'000 * (++call % 3); };
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  EXPECT_THAT(document_.points[0].validity.flags, Contains("noisy"));
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
  EXPECT_EQ(
      document_.unmeasured[0].reason,
      "the time budget of 1.00 s ended while it was prepared, before timing; give a larger --time-budget");
}

TEST_F(RunnerTest, ProgressSaysByHowMuchTheBudgetIsExceeded) {
  const RunBudget budget(clock_, clock_.now(), std::chrono::seconds(10));
  clock_.advance(std::chrono::seconds(4));
  EXPECT_EQ(budget.progress("").left, std::chrono::seconds(6));
  clock_.advance(std::chrono::seconds(18));
  EXPECT_EQ(budget.progress("").left, std::chrono::seconds(-12));
}

// Preparing any of them takes more than the whole budget. What takes long of their verification is left out.
TEST_F(RunnerTest, NeededPointsAreMeasuredOnceWhateverTheBudgetAndTheRestIsNot) {
  settings_.time_budget = std::chrono::seconds(1);
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8});
  for (const std::size_t index : {0, 1, 2, 3}) {
    plan.points[index].series = "series" + std::to_string(index);
    testing::configured(plan.points[index]).on_make = [&] { clock_.advance(settings_.time_budget); };
  }
  plan.points[0].is_reference = plan.points[0].is_needed = true;
  plan.points[3].is_needed = true;
  testing::FakeWorkload::shortened = 0;
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:8"));
  EXPECT_EQ(testing::FakeWorkload::shortened, 2);
  for (const Point& point : document_.points) {
    EXPECT_EQ(point.stats.rounds, 1) << point.name;
  }
  ASSERT_THAT(document_.unmeasured, SizeIs(2));
  expect_words(document_.unmeasured[0].reason);

  settings_.time_budget = std::chrono::hours(1);
  settings_.started = clock_.now();
  document_ = {};
  for (SweepPoint& point : plan.points) {
    testing::configured(point).on_make = nullptr;
  }
  run(plan);
  EXPECT_THAT(measured(), SizeIs(4));
  EXPECT_EQ(testing::FakeWorkload::shortened, 2) << "there was time for all";
}

TEST_F(RunnerTest, WhereTheBudgetEndedWhileAPointWasMadeItsAnswerIsNotVerified) {
  settings_.time_budget = std::chrono::seconds(1);
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].series = "another";
  testing::configured(plan.points[1]).on_make = [&] { clock_.advance(settings_.time_budget); };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  const auto told = [&](const char* what) {
    return std::ranges::count_if(recorder_.told,
                                 [&](const std::string& text) { return text.starts_with(what); });
  };
  EXPECT_EQ(told("planning fake/"), 2);
  EXPECT_EQ(told("preparing fake/"), 2);
  EXPECT_EQ(told("verifying fake/batch:1 (1 of 2)"), 1);
  EXPECT_EQ(told("verifying"), 1);
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
            "the time budget of 5.00 s has no room for 3 rounds; give a larger --time-budget");
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
  expect_words(document_.unmeasured[0].reason);
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
  expect_words(document_.unmeasured[0].reason);
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

TEST_F(RunnerTest, ABudgetWithNoRoomSkipsTheLargePointsAndSaysSo) {
  settings_.time_budget = std::chrono::seconds(5);
  device_.next_ns = [] { return 1'000'000'000; };  // a second a step, ten at batch 10
  run(testing::fake_plan({1, 10}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].name, "fake/batch:10");
  EXPECT_EQ(document_.unmeasured[0].status, "skipped");
  expect_words(document_.unmeasured[0].reason);
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
  ASSERT_EQ(document_.points.size(), 4U);
  for (const Point& point : document_.points) {
    EXPECT_EQ(point.stats.median_ns, 1000) << point.name;
  }
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
  ASSERT_THAT(document_.points, SizeIs(2));
  for (const Point& point : document_.points) {
    EXPECT_GE(round_sizes(point).back(), settings_.rounds.samples) << point.name;
  }
}

TEST_F(RunnerTest, TimeThatEarlierProcessesSpentIsGone) {
  clock_.advance(settings_.time_budget);
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "skipped");
}

// Planning asks a library's heuristics, which takes long on a card.
TEST_F(RunnerTest, BehindTheBudgetNothingIsPlanned) {
  settings_.time_budget = std::chrono::seconds(5);
  SweepPlan plan = testing::fake_plan({1, 2});
  plan.points[1].series = "another";
  testing::configured(plan.points[0]).on_plan = [&] { clock_.advance(settings_.time_budget); };
  bool planned = false;
  testing::configured(plan.points[1]).on_plan = [&] { planned = true; };
  run(plan);
  EXPECT_FALSE(planned);
  ASSERT_THAT(document_.unmeasured, SizeIs(2));
  EXPECT_EQ(document_.unmeasured[0].reason,
            "the time budget of 5.00 s has no room for 3 rounds; give a larger --time-budget");
  EXPECT_EQ(document_.unmeasured[1].status, "skipped");
  EXPECT_EQ(document_.unmeasured[1].reason,
            "the time budget of 5.00 s has no room left; give a larger --time-budget");
}

// On a card a point's first make builds plans, compiles and autotunes; later ones find all that.
class FirstMakes : public RunnerTest {
 protected:
  FirstMakes() { device_.tunes = true; }
  void make_takes(SweepPlan& plan, std::chrono::milliseconds first, std::chrono::milliseconds again) {
    for (SweepPoint& point : plan.points) {
      testing::configured(point).on_make = [this, name = point.name, first, again] {
        clock_.advance(++makes_[name] == 1 ? first : again);
      };
    }
  }
  std::map<std::string, int> makes_;
};

TEST_F(FirstMakes, CountOnceInTheBudget) {
  settings_.time_budget = std::chrono::seconds(100);
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8, 16, 32, 64}, true);
  make_takes(plan, std::chrono::seconds(5), std::chrono::milliseconds(50));
  run(plan);
  EXPECT_THAT(document_.unmeasured, IsEmpty());
  ASSERT_THAT(document_.points, SizeIs(7));
  for (const Point& point : document_.points) {
    EXPECT_GE(point.stats.rounds, settings_.least_rounds) << point.name;
  }
  EXPECT_LE(clock_.now() - settings_.started, settings_.time_budget);
}

// Each first make ends in an error: the second is expected to take as long as the first.
TEST_F(FirstMakes, ThatFailCountForTheNext) {
  settings_.time_budget = std::chrono::seconds(30);
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  int begun = 0;
  for (SweepPoint& point : plan.points) {
    testing::configured(point).on_make = [this, &begun] {
      ++begun;
      clock_.advance(std::chrono::seconds(20));
      throw std::runtime_error("no kernel image");
    };
  }
  run(plan);
  EXPECT_EQ(begun, 1);
  ASSERT_THAT(document_.unmeasured, SizeIs(3));
  EXPECT_EQ(document_.unmeasured[0].status, "error");
  EXPECT_EQ(document_.unmeasured[1].status, "skipped");
  expect_words(document_.unmeasured[1].reason);
}

// A make that fails at once says nothing of those that succeed.
TEST_F(FirstMakes, ThatFailAtOnceDoNotShortenTheEstimate) {
  settings_.time_budget = std::chrono::seconds(30);
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  for (SweepPoint& point : plan.points) {
    point.series = point.name;
  }
  make_takes(plan, std::chrono::seconds(20), std::chrono::milliseconds(10));
  testing::configured(plan.points[0]).on_make = [] { throw std::runtime_error("no kernel image"); };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:2"));
  EXPECT_FALSE(makes_.contains("fake/batch:4"));
}

TEST_F(FirstMakes, AreNotBegunWhereOneTakesLongerThanIsLeft) {
  settings_.time_budget = std::chrono::seconds(17);
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8}, true);
  make_takes(plan, std::chrono::seconds(5), std::chrono::milliseconds(50));
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2", "fake/batch:4"));
  EXPECT_FALSE(makes_.contains("fake/batch:8"));
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  expect_words(document_.unmeasured[0].reason);
}

// Only the run's very first point is begun without an estimate.
TEST_F(FirstMakes, OfAnotherWorkloadAreExpectedToTakeTheLeastSoFar) {
  settings_.time_budget = std::chrono::seconds(11);
  SweepPlan plan = testing::fake_plan({1, 2, 4, 8});
  for (SweepPoint& point : plan.points) {
    point.series = point.name;
    point.params["workload"] = point.name;
  }
  make_takes(plan, std::chrono::seconds(4), std::chrono::milliseconds(10));
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1", "fake/batch:2"));
  EXPECT_FALSE(makes_.contains("fake/batch:4"));
  ASSERT_THAT(document_.unmeasured, SizeIs(2));
  expect_words(document_.unmeasured[0].reason);
}

}  // namespace
}  // namespace bench
