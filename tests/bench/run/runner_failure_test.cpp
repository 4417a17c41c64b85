// What is left of a run in which a point, its input, the file or the device fails.
#include <optional>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "tests/bench/run/runner_fixture.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/interruption.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RunnerTest;
using ::testing::SizeIs;

TEST_F(RunnerTest, AFileThatCannotBeWrittenLeavesTheFindings) {
  recorder_.on_change = [] { throw UsageError("the disk is full"); };
  EXPECT_THROW(run(testing::fake_plan({1, 2})), UsageError) << "once more, and that is ignored";
  ASSERT_THAT(document_.findings, SizeIs(1));
  EXPECT_EQ(document_.findings[0].value, 1);
}

// Such as images whose folder is gone: what was measured before stays, and the run ends with that reason.
TEST_F(RunnerTest, InputThatIsGoneEndsTheRunAndKeepsWhatWasMeasured) {
  int steps_left = 2000;  // more than making all ready and one visit to each take
  testing::FakeWorkload::on_step = [&](const WorkloadSpec&) {
    if (--steps_left < 0) {
      throw UsageError("--data: nothing is left");
    }
  };
  settings_.wanted_rounds = settings_.rounds.at_most = 1000;
  EXPECT_THROW(run(testing::fake_plan({1, 2, 4, 8})), UsageError);
  EXPECT_EQ(document_.points.size() + document_.unmeasured.size(), 4U);
  EXPECT_FALSE(document_.points.empty());
  for (const UnmeasuredPoint& point : document_.unmeasured) {
    EXPECT_EQ(point.reason, "the run broke off before it was timed");
  }
  EXPECT_EQ(steps_left, -1) << "another point was tried";
}

TEST_F(RunnerTest, InputThatIsGoneWhilePointsArePreparedLeavesFindingsInTheFile) {
  testing::FakeWorkload::on_step = [](const WorkloadSpec& spec) {
    if (spec.batch == 4) {
      throw UsageError("--data: nothing is left");
    }
  };
  EXPECT_THROW(run(testing::fake_plan({1, 2, 4, 8})), UsageError);
  ASSERT_THAT(recorder_.findings, SizeIs(1));
  EXPECT_EQ(recorder_.findings[0].value, 2);
}

TEST_F(RunnerTest, AWrongAnswerIsAPointInErrorAndIsNeverTimed) {
  testing::FakeWorkload::verdict = false;
  run(testing::fake_plan({1}));
  EXPECT_THAT(document_.points, IsEmpty());
  ASSERT_THAT(document_.unmeasured, SizeIs(1));
  EXPECT_EQ(document_.unmeasured[0].status, "error");
  expect_words(document_.unmeasured[0].reason);
}

TEST_F(RunnerTest, AnAnswerThatCouldNotBeCheckedIsTimedAndSaid) {
  testing::FakeWorkload::not_checked = "nothing to compare with";
  run(testing::fake_plan({1}));
  ASSERT_THAT(document_.points, SizeIs(1));
  const Verification& verification = document_.points[0].verification.value();
  EXPECT_FALSE(verification.passed);
  EXPECT_EQ(verification.not_checked, "nothing to compare with");
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
  expect_words(document_.unmeasured[0].reason);
}

// Ctrl-C while the point is made for the first time, which takes seconds on a card.
TEST_F(RunnerTest, APointWhoseMakeIsInterruptedLeavesNoTrace) {
  SweepPlan plan = testing::fake_plan({1, 2, 4});
  std::optional<testing::Interruption> ctrl_c;
  testing::configured(plan.points[1]).on_make = [&] {
    ctrl_c.emplace();
    stop_if_interrupted("operations were prepared");
  };
  run(plan);
  EXPECT_THAT(measured(), ElementsAre("fake/batch:1"));
  EXPECT_THAT(document_.unmeasured, IsEmpty());
}

TEST_F(RunnerTest, ALostDeviceEndsTheRunWithItsPointInError) {
  int steps = 0;
  testing::FakeWorkload::on_step = [&](const WorkloadSpec& spec) {
    if (spec.batch == 2 && ++steps > 250) {  // its warm-up and first repetitions went well
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

}  // namespace
}  // namespace bench
