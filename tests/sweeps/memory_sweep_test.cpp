// The memory sweep's points and its state.
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
using ::testing::Not;

class MemorySweep : public testing::MemorySweepRun {};

TEST_F(MemorySweep, CrossesModesDtypesAndOptimizersWithBatches) {
  request_.modes = {"infer", "train"};
  request_.workload_options = {{"optimizer", {"sgd", "adam"}}};
  request_.batches = {4, 2};
  EXPECT_THAT(names(), ElementsAre("memory/known/infer/fp32/batch:2", "memory/known/infer/fp32/batch:4",
                                   "memory/known/train/fp32/optimizer:sgd/batch:2",
                                   "memory/known/train/fp32/optimizer:sgd/batch:4",
                                   "memory/known/train/fp32/optimizer:adam/batch:2",
                                   "memory/known/train/fp32/optimizer:adam/batch:4"));
  const SweepPlan made = plan();
  EXPECT_FALSE(made.open_ended);
  EXPECT_EQ(made.axes["optimizer"], (Json{"sgd", "adam"}));
  EXPECT_EQ(made.axes["batch"], (Json{2, 4}));
  EXPECT_FALSE(made.points[0].params.contains("optimizer"));
  EXPECT_EQ(made.points[4].params["optimizer"], "adam");
  EXPECT_EQ(made.points[4].spec.options.at("image-size"), "32");
}

TEST_F(MemorySweep, DefaultBatchesAreMultiplesOfTheMicroBatches) {
  request_.modes = {"train"};
  request_.workload_options = {{"accumulate", {"1", "4"}}};
  for (const SweepPoint& point : plan().points) {
    EXPECT_EQ(point.spec.batch % std::stoll(point.spec.options.at("accumulate")), 0) << point.name;
  }
  EXPECT_THAT(names(), ::testing::Contains("memory/known/train/fp32/accumulate:4/batch:4"));
  EXPECT_THAT(names(), Not(::testing::Contains("memory/known/train/fp32/accumulate:4/batch:2")));
}

TEST_F(MemorySweep, NamesAreUnique) {
  request_.modes = {"infer", "train"};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  request_.workload_options = {{"optimizer", {"sgd", "adam"}},
                               {"accumulate", {"1", "2"}},
                               {"recompute", {"no", "yes"}},
                               {"image-size", {"32", "64"}}};
  auto all = names();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(MemorySweep, TheMemoryOverAStepIsOfTrainingWhereThereIsSome) {
  request_.modes = {"infer", "train"};
  const ResultDocument document = run();
  const Json& step = document.sweep.state["step_memory"];
  EXPECT_EQ(step["label"], "fp32 training with sgd");
  EXPECT_EQ(step["batch"], 16);
  EXPECT_EQ(step["reserved_bytes"], 1000 + 16 * 100);
  EXPECT_EQ(step["names"], (Json{"forward middle", "forward middle"}));
  EXPECT_EQ(step["bytes"]["activations"], (Json{16, 16}));
}

TEST_F(MemorySweep, WhatLostTheDeviceIsNotTriedAgain) {
  use({.loses_device_at = 30});
  const ResultDocument lost = run();
  EXPECT_TRUE(lost_);
  EXPECT_EQ(lost.sweep.lost.size(), 1U);
  const Json& proof = lost.sweep.state["limits"][0]["proof"];
  expect_words(proof["not_tried"].get<std::string>());

  lost_ = false;
  const ResultDocument after = run(1e9, lost.sweep.state);
  EXPECT_FALSE(lost_);
  EXPECT_EQ(after.sweep.state["limits"][0]["proof"], proof);
}

TEST_F(MemorySweep, TheStateReadsWhatItWrote) {
  request_.sweep_options["soak"] = "100";
  const Json state = run().sweep.state;
  machine_.allocations = 0;
  const ResultDocument after = run(1e9, state);
  EXPECT_EQ(after.sweep.state, state);
  EXPECT_EQ(machine_.allocations, 0) << "everything was tried before";
}

TEST_F(MemorySweep, AStateThatCannotBeUsedIsRefused) {
  ResultDocument document;
  for (const Json& wrong : {Json{{"limits", {{{"label", 3}}}}}, Json{{"soak", 7}}}) {
    document.sweep.state = wrong;
    EXPECT_THROW(make()->restore(document), UsageError);
  }
}

}  // namespace
}  // namespace bench
