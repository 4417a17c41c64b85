// The memory sweep's limits: by plan, and tried on the device.
#include <gmock/gmock.h>
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

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

class MemoryLimits : public testing::MemorySweepRun {};

TEST_F(MemoryLimits, ThePlanAloneFindsTheLargestBatchOfEachCap) {
  request_.memory_caps = {1000, 1100, 5000, 5099, 5100};
  const auto sweep = make();
  sweep->predict(planning_end_);
  const Json state = sweep->to_json();
  std::vector<std::int64_t> largest;
  std::vector<std::int64_t> safe;
  for (const Json& limit : state["limits"]) {
    EXPECT_EQ(limit["label"], "fp32 inference");
    EXPECT_EQ(limit["fixed_bytes"], 1000);
    largest.push_back(limit["largest_batch"].get<std::int64_t>());
    safe.push_back(limit["safe_batch"].get<std::int64_t>());
  }
  EXPECT_THAT(largest, ElementsAre(0, 1, 40, 40, 41));
  EXPECT_THAT(safe, ElementsAre(0, 0, 34, 35, 35));  // strictly below 90 %
  EXPECT_EQ(machine_.allocations, 0);
}

// Batches 1 and 16 for the line, the largest and the next, and the largest safe one and the next.
TEST_F(MemoryLimits, OnALineALimitTakesSixPlans) {
  int plans = 0;
  use({.fixed = 12'345, .a_sample = 678, .on_plan = [&] { ++plans; }});
  for (const std::int64_t cap : {50'000, 1'000'000, 987'654'321}) {
    request_.memory_caps = {cap};
    plans = 0;
    const Json limit = predicted().at(0);
    EXPECT_EQ(limit["largest_batch"], (cap - 12'345) / 678);
    EXPECT_EQ(limit["largest_bytes"], 12'345 + 678 * ((cap - 12'345) / 678));
    EXPECT_EQ(limit["next_bytes"], 12'345 + 678 * ((cap - 12'345) / 678 + 1));
    EXPECT_LE(plans, 6) << cap;
  }
  request_.memory_caps = {1'000'000, 2'000'000, 3'000'000, 4'000'000};
  plans = 0;
  predicted();
  EXPECT_LE(plans, 2 + 4 * 4);
}

// Setup that holds more than small batches, scratch that jumps: the answers are those of a search batch by
// batch.
TEST_F(MemoryLimits, OffTheLineALimitTakesMorePlansAndIsTheSame) {
  const std::vector<std::function<std::int64_t(std::int64_t)>> shapes{
      [](std::int64_t batch) { return std::max<std::int64_t>(0, 50'000 - 100 * batch); },
      [](std::int64_t batch) { return batch >= 300 ? 20'000 : 0; },
      [](std::int64_t batch) { return batch / 64 * 3000; },
      [](std::int64_t batch) { return batch * batch / 20; }};
  for (const auto& shape : shapes) {
    int plans = 0;
    use({.more = shape, .on_plan = [&] { ++plans; }});
    for (const std::int64_t cap : {51'500, 70'000, 100'000}) {
      request_.memory_caps = {cap};
      const auto bytes = [&](std::int64_t batch) { return 1000 + 100 * batch + shape(batch); };
      const auto largest_below = [&](std::int64_t most) {
        std::int64_t batch = 0;
        while (bytes(batch + 1) <= most) {
          ++batch;
        }
        return batch;
      };
      plans = 0;
      const Json limit = predicted().at(0);
      const std::int64_t largest = largest_below(cap);
      EXPECT_EQ(limit["largest_batch"], largest) << cap;
      EXPECT_EQ(limit["largest_bytes"], bytes(largest)) << cap;
      EXPECT_EQ(limit["next_bytes"], bytes(largest + 1)) << cap;
      EXPECT_EQ(limit["safe_batch"], largest_below(cap * 9 / 10 - 1)) << cap;
      EXPECT_LE(plans, 20) << cap;
    }
  }
}

TEST_F(MemoryLimits, LimitsThatPlanningHasNoTimeForAreLeftOutWithTheReason) {
  request_.memory_caps = {5000, 10'000};
  int asked = 0;  // the first cap is answered
  planning_end_ = [&asked] {
    return ++asked > 6 ? std::optional<std::string>("the test ended it") : std::nullopt;
  };
  const auto sweep = make();
  sweep->predict(planning_end_);
  ResultDocument document;
  document.sweep.axes = sweep->plan().axes;
  document.findings = sweep->findings(document);
  const Json state = sweep->to_json();
  ASSERT_EQ(state["limits"].size(), 1U);
  EXPECT_EQ(state["limits"][0]["largest_batch"], 40);
  EXPECT_EQ(state["limits_left_out"], (Json{{"count", 1}, {"reason", "the test ended it"}}));
  EXPECT_EQ(finding(document, "limits_left_out").claim,
            "Largest batches by plan: 1 of 2 are missing, because the test ended it [larger "
            "--time-budget].");
}

TEST_F(MemoryLimits, LimitsLeftOutBeforeThePointsArePlannedBehindThem) {
  planning_end_ = [] { return std::optional<std::string>("the points come first"); };
  const ResultDocument document = run();
  EXPECT_EQ(document.sweep.state["limits"].at(0).at("largest_batch"), 40);
  EXPECT_EQ(document.sweep.state["limits"].at(0).at("proof").at("largest_batch"), 40);
  EXPECT_FALSE(document.sweep.state.contains("limits_left_out"));
  const ResultDocument without_time = run(0);
  EXPECT_EQ(without_time.sweep.state["limits_left_out"]["reason"], "the time budget ended");
}

// The process before this one planned them: its time budget is this one's.
TEST_F(MemoryLimits, LimitsOfTheProcessBeforeAreKept) {
  const Json state = run().sweep.state;
  planning_end_ = [] { return std::optional<std::string>("no time"); };
  EXPECT_EQ(run(0, state).sweep.state["limits"], state["limits"]);
}

TEST_F(MemoryLimits, ARightPlanIsProvedByTwoProbes) {
  const ResultDocument document = run();
  const Json& proof = document.sweep.state["limits"][0]["proof"];
  EXPECT_EQ(proof["largest_batch"], 40);
  EXPECT_EQ(proof["refused_batch"], 41);
  EXPECT_EQ(proof["probes"], 2);
  EXPECT_EQ(proof["tracked_bytes"], 5000);
  EXPECT_EQ(proof["ran_a_step"], true);
  EXPECT_EQ(finding(document, "largest_batch/5000").details["fit"], "yes");
  expect_words(finding(document, "largest_batch/5000").claim);
}

TEST_F(MemoryLimits, AWrongPlanIsFoundOut) {
  use({.unplanned = 1234});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 40);
  EXPECT_EQ(limit["proof"]["largest_batch"], 27);  // 1000 + 1234 + 27 · 100 = 4934
  EXPECT_EQ(limit["proof"]["refused_batch"], 28);
  EXPECT_LE(limit["proof"]["probes"].get<int>(), 2 + 2 * 4);
  expect_words(finding(document, "largest_batch/5000").claim);
}

TEST_F(MemoryLimits, TheDevicesOwnCapIsPutBack) {
  machine_.memory().set_cap(777'777);
  run();
  EXPECT_EQ(machine_.memory().cap(), 777'777);
  EXPECT_EQ(machine_.memory().live().total(), 0);
}

TEST_F(MemoryLimits, MicroBatchesAreProbedInTheirUnit) {
  request_.modes = {"train"};
  request_.workload_options = {{"accumulate", {"16"}}};
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 32);
  EXPECT_EQ(limit["proof"]["largest_batch"], 32);
  EXPECT_EQ(limit["proof"]["refused_batch"], 48);
}

TEST_F(MemoryLimits, BatchesTooSmallToRunAreNotTakenForTheLimit) {
  use({.smallest = 4});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["smallest_batch"], 4);
  EXPECT_EQ(limit["largest_batch"], 40);
  EXPECT_EQ(limit["proof"]["largest_batch"], 40);
}

// 34 batches of 40 are safe.
TEST_F(MemoryLimits, ABatchThatWasAskedForHasAVerdict) {
  const auto verdict = [&](std::int64_t batch) {
    request_.batches = {batch};
    const auto sweep = make();
    sweep->predict(planning_end_);
    ResultDocument document;
    document.sweep.axes = sweep->plan().axes;
    for (const Finding& finding : sweep->findings(document)) {
      if (finding.name == "largest_batch/5000") {
        EXPECT_EQ(finding.details["asked_batch"], batch);
        expect_words(finding.claim);
        return finding.details["fit"].get<std::string>();
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(verdict(34), "yes");
  EXPECT_EQ(verdict(35), "tight");
  EXPECT_EQ(verdict(41), "no");
  request_.modes = {"infer", "train"};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  EXPECT_EQ(verdict(34), "yes");
}

// Of memory there is more than enough: the operation's own limit is named.
TEST_F(MemoryLimits, ALimitOfAnOperationIsNamed) {
  use({.largest = 25});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 25);
  EXPECT_EQ(limit["next_unsupported"], "the kernels count to 2147483647");
  EXPECT_FALSE(limit.contains("next_bytes"));
  EXPECT_EQ(limit["proof"]["largest_batch"], 25);
  expect_words(finding(document, "largest_batch/5000").claim);
  const ResultDocument after = run(1e9, document.sweep.state);
  EXPECT_EQ(after.sweep.state["limits"], document.sweep.state["limits"]);
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  request_.modes = {"infer", "train"};
  expect_words(finding(run(), "largest_batch/5000").claim);
}

TEST_F(MemoryLimits, AnOperationsLimitIsNotNamedWhereMemoryEndsFirst) {
  use({.largest = 60});
  const ResultDocument document = run();
  EXPECT_EQ(document.sweep.state["limits"][0]["largest_batch"], 40);
  expect_words(finding(document, "largest_batch/5000").claim);
}

TEST_F(MemoryLimits, WhatDoesNotFitAtAllSaysWhatItsFixedPartIs) {
  request_.memory_caps = {500, 5000};
  const ResultDocument document = run();
  expect_words(finding(document, "largest_batch/500").claim);
  EXPECT_EQ(document.sweep.state["limits"][0]["proof"]["largest_batch"], 0);
  EXPECT_EQ(document.sweep.state["limits"][1]["proof"]["largest_batch"], 40);
}

TEST_F(MemoryLimits, ACapWithRoomForTheFixedPartOnlySaysWhatIsMissing) {
  request_.memory_caps = {1050, 5000};
  const ResultDocument document = run();
  expect_words(finding(document, "largest_batch/1050").claim);
}

TEST_F(MemoryLimits, TheTableGivesNoShareOfACapBelowTheFixedPart) {
  request_.memory_caps = {500, 1050, 5000};
  const ResultDocument document = run();
  const std::vector<TextTable> tables = sweep_->tables(document);
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].rows.size(), 4U);
  EXPECT_THAT(tables[0].rows[0], IsSupersetOf({"weights and state", "at batch 1"}));
  EXPECT_THAT(tables[0].rows[1],
              IsSupersetOf({"500 B", "1000 B", "1.07 KiB", "none", "fixed part too large"}));
  for (const Cell& cell : tables[0].rows[1]) {
    expect_words(cell.text);
  }
  EXPECT_THAT(tables[0].rows[2], IsSupersetOf({"none", "none (105 %)"}));
  EXPECT_THAT(tables[0].rows[3], IsSupersetOf({"40 (100 %)", "34"}));
}

TEST_F(MemoryLimits, TheSmallestBatchThatRunsNeedNotBeAPowerOfTwo) {
  use({.smallest = 3});
  request_.memory_caps = {1300, 1400};  // batch 3 takes 1300, 4 takes 1400
  request_.batches = {3};
  const ResultDocument document = run();
  EXPECT_EQ(document.sweep.state["limits"][0]["smallest_batch"], 3);
  EXPECT_EQ(document.sweep.state["limits"][0]["smallest_bytes"], 1300);
  EXPECT_EQ(document.sweep.state["limits"][0]["largest_batch"], 3);
  EXPECT_EQ(document.sweep.state["limits"][0]["proof"]["largest_batch"], 3);
  EXPECT_EQ(document.sweep.state["limits"][1]["largest_batch"], 4);
}

TEST_F(MemoryLimits, ACapBeyondTheMachineIsAnsweredByPlanOnly) {
  machine_.edit().available_bytes = 4000;
  const ResultDocument document = run();
  const Json& proof = document.sweep.state["limits"][0]["proof"];
  expect_words(proof["not_tried"].get<std::string>());
  EXPECT_EQ(machine_.allocations, 0);
  expect_words(finding(document, "largest_batch/5000").claim);
}

TEST_F(MemoryLimits, WithoutTimeNothingIsTried) {
  const ResultDocument document = run(0);
  expect_words(document.sweep.state["limits"][0]["proof"]["not_tried"].get<std::string>());
  EXPECT_EQ(machine_.allocations, 0);
}

// A card builds and compiles plans in the first make of each batch.
TEST_F(MemoryLimits, ATrialThatTakesLongerThanIsLeftIsNotBegun) {
  costs_["memory/known/infer/fp32"] = {.make_ns = 5e9};
  const ResultDocument document = run(4e9);
  EXPECT_EQ(document.sweep.state["limits"][0]["proof"],
            (Json{{"not_tried", "the time budget leaves less than a trial takes"}}));
  EXPECT_EQ(machine_.allocations, 0);
  expect_words(finding(document, "largest_batch/5000").claim);
  EXPECT_EQ(run(6e9).sweep.state["limits"][0]["proof"]["largest_batch"], 40);
  // A series whose points were measured by an earlier run is as slow as the others.
  costs_ = {{"memory/known/infer/bf16", {.make_ns = 5e9}}};
  EXPECT_TRUE(run(4e9).sweep.state["limits"][0]["proof"].contains("not_tried"));
}

// Batches near the limits take 3 s, and those of the points took 0.1 s: the first trial shows it.
TEST_F(MemoryLimits, TrialsEndWithinTheTimeBudget) {
  using namespace std::chrono_literals;
  use({.on_made = [this] { clock_.advance(3s); }});
  request_.modes = {"infer", "train"};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  for (const char* series : {"infer/fp32", "infer/bf16", "train/fp32", "train/bf16"}) {
    costs_[std::string("memory/known/") + series] = {.make_ns = 0.1e9};
  }
  const ResultDocument document = run(10e9);
  EXPECT_LE(clock_.now().time_since_epoch(), 10s);
  expect_words(finding(document, "largest_batch/5000").claim);
  // The first alone may exceed it.
  use({.on_made = [this] { clock_.advance(12s); }});
  const Clock::time_point start = clock_.now();
  run(10e9);
  EXPECT_EQ(clock_.now() - start, 12s);
}

// Pages that are written for the first time cost 1 s for 64 MiB: 12 s for the 800 MB of the largest batch.
TEST_F(MemoryLimits, WhatWritingTheInputTakesIsKnownBeforeTheFirstTrial) {
  using namespace std::chrono_literals;
  use({.of_samples = MemoryCategory::input});
  request_.memory_caps = {800'000'000};
  machine_.on_fill = [this] { clock_.advance(1s); };
  EXPECT_TRUE(run(10e9).sweep.state["limits"][0]["proof"].contains("not_tried"));
  EXPECT_EQ(machine_.allocations, 1) << "to measure it";
  EXPECT_EQ(run(20e9).sweep.state["limits"][0]["proof"]["largest_batch"], 7'999'990);
}

TEST_F(MemoryLimits, ABatchThatTunesLongRunsNoStep) {
  costs_["memory/known/infer/fp32"] = {.warm_up_ns = 5e9};
  EXPECT_FALSE(run(15e9).sweep.state["limits"][0]["proof"]["ran_a_step"].get<bool>());
  EXPECT_TRUE(run(25e9).sweep.state["limits"][0]["proof"]["ran_a_step"].get<bool>());
}

TEST_F(MemoryLimits, ADtypeTheDeviceLacksHasNoLimit) {
  request_.dtypes = {Dtype::fp16, Dtype::fp32};
  const ResultDocument document = run();
  ASSERT_EQ(document.sweep.state["limits"].size(), 1U);
  EXPECT_EQ(document.sweep.state["limits"][0]["label"], "fp32 inference");
}

// The two ends of many series; each series has a row in the table.
TEST_F(MemoryLimits, ManySeriesAreSummedUp) {
  request_.modes = {"infer", "train"};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  const ResultDocument document = run();
  const Finding& largest = finding(document, "largest_batch/5000");
  EXPECT_EQ(largest.headline, 1);
  expect_words(largest.claim);
  EXPECT_LE(largest.claim.size(), 150U);
}

}  // namespace
}  // namespace bench
