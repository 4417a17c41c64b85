// Soaks of the memory sweep.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory_sweep_run.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

class MemorySoak : public testing::MemorySweepRun {};

TEST_F(MemorySoak, ASoakWithoutALeakIsSteady) {
  request_.sweep_options["soak"] = "100";
  const ResultDocument document = run();
  ASSERT_EQ(document.sweep.state["soak"].size(), 1U);
  EXPECT_EQ(document.sweep.state["soak"][0]["done_steps"], 100);
  EXPECT_EQ(document.sweep.state["soak"][0]["samples"].size(), 101U);
  const Finding& growth = finding(document, "memory_growth/fp32 inference");
  EXPECT_EQ(growth.value, 0);
  expect_words(growth.claim);
}

TEST_F(MemorySoak, ALeakIsFoundWithTheStepsThatAreLeft) {
  use({.leak_a_step = 10});
  request_.sweep_options["soak"] = "5000";
  const ResultDocument document = run();
  EXPECT_LE(document.sweep.state["soak"][0]["samples"].size(), 402U);
  const Finding& growth = finding(document, "memory_growth/fp32 inference");
  ASSERT_TRUE(growth.value);
  EXPECT_DOUBLE_EQ(*growth.value, 10);
  expect_words(growth.claim);
}

TEST_F(MemorySoak, StepsLeftAreWhatTheCapHasRoomFor) {
  use({.leak_a_step = 1});
  request_.memory_caps = {12'700};  // 16 samples take 2600; 100 steps leak 100
  request_.sweep_options["soak"] = "100";
  const Finding growth = finding(run(), "memory_growth/fp32 inference");
  EXPECT_DOUBLE_EQ(growth.details["steps_until_out_of_memory"].get<double>(), 10'000);
}

TEST_F(MemorySoak, ALeakIsTheFirstHeadline) {
  use({.leak_a_step = 10});
  request_.sweep_options["soak"] = "100";
  EXPECT_EQ(finding(run(), "memory_growth/fp32 inference").headline, 1);
}

TEST_F(MemorySoak, ASoakThatTakesLongerToMakeThanIsLeftIsNotBegun) {
  request_.sweep_options["soak"] = "100";
  costs_["memory/known/infer/fp32"] = {.make_ns = 9e9, .again_ns = 5e9};
  const ResultDocument document = run(4e9);
  EXPECT_EQ(machine_.allocations, 0);
  EXPECT_EQ(document.sweep.state["soak"][0]["done_steps"], 0);
  EXPECT_EQ(finding(document, "memory_growth/fp32 inference").claim,
            "Memory of fp32 inference at batch 16: 0 steps (of 100 wanted: the time budget leaves less than "
            "making it takes) are too few to tell growth from noise.");
  EXPECT_EQ(run(6e9).sweep.state["soak"][0]["done_steps"], 100) << "plans are there by now";
}

TEST_F(MemorySoak, RefusesASoakThatIsNoNumberOfSteps) {
  for (const std::string wrong : {"abc", "-1", "3", "1.5", "99999999999999999999", ""}) {
    request_.sweep_options["soak"] = wrong;
    expect_words(message_of<UsageError>([&] { plan(); }));
  }
}

}  // namespace
}  // namespace bench
