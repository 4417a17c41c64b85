// The memory sweep's points, its limits by plan, and what it tries on the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory_machine.h"
#include "tests/bench/support/manual_clock.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::ThrowsMessage;

class MemorySweep : public ::testing::Test {
 protected:
  MemorySweep() { use({}); }

  void use(const MachineNumbers& numbers) {
    type_ = machine_workload(numbers);
    smallest_ = numbers.smallest;
    request_.workload = &type_;
    if (request_.memory_caps.empty()) {
      request_.modes = {"infer"};
      request_.dtypes = {Dtype::fp32};
      request_.memory_caps = {5000};
    }
    request_.sweep_options["soak"] = "0";
  }

  std::unique_ptr<Sweep> make() { return registry<SweepType>().find("memory")->make(request_, machine_); }
  SweepPlan plan() { return make()->plan(); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SweepPoint& point : plan().points) {
      all.push_back(point.name);
    }
    return all;
  }

  // As the program does: plan, predict, measure, study, find. `before`: what the file holds of the sweep of
  // a process that lost the device.
  ResultDocument run(double left_ns = 1e9, const Json& before = nullptr) {
    sweep_ = make();
    ResultDocument document;
    document.sweep.axes = sweep_->plan().axes;
    document.sweep.memory_cap_bytes = request_.largest_cap();
    sweep_->predict(document.context, planning_end_);
    if (!before.is_null()) {
      document.sweep.state = before;
      sweep_->restore(document);
    }
    for (const SweepPoint& point : sweep_->plan().points) {
      if (!point.workload->unsupported(machine_) && point.spec.batch <= 16 && point.spec.batch >= smallest_) {
        document.benchmarks.push_back(measured_point(point, machine_));
      }
    }
    SweepStudy study{.request = request_,
                     .plan = sweep_->plan(),
                     .device = machine_,
                     .clock = clock_,
                     .document = document,
                     .report = [](const std::string&) {},
                     .save = [this, &document] { document.sweep.state = sweep_->to_json(); },
                     .left_ns = [left_ns] { return left_ns; },
                     .interrupted = [] { return false; },
                     .lost = document.sweep.lost};
    try {
      sweep_->study(study);
    } catch (const DeviceLost&) {
      lost_ = true;
    }
    document.sweep.state = sweep_->to_json();
    document.findings = sweep_->findings(document);
    return document;
  }

  static const Finding& finding(const ResultDocument& document, const std::string& name) {
    const auto at = std::ranges::find(document.findings, name, &Finding::name);
    if (at == document.findings.end()) {
      throw std::runtime_error("no finding " + name);
    }
    return *at;
  }

  // The limits by plan.
  Json predicted() {
    const auto sweep = make();
    sweep->predict({}, planning_end_);
    return sweep->to_json().at("limits");
  }

  MemoryMachine machine_;
  PlanningEnd planning_end_ = [] { return std::nullopt; };
  WorkloadType type_;
  testing::ManualClock clock_;
  SweepRequest request_{clock_};
  std::unique_ptr<Sweep> sweep_;
  std::int64_t smallest_ = 1;
  bool lost_ = false;
};

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

TEST_F(MemorySweep, ThePlanAloneFindsTheLargestBatchOfEachCap) {
  request_.memory_caps = {1000, 1100, 5000, 5099, 5100};
  const auto sweep = make();
  sweep->predict({}, planning_end_);
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
TEST_F(MemorySweep, OnALineALimitTakesSixPlans) {
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
TEST_F(MemorySweep, OffTheLineALimitTakesMorePlansAndIsTheSame) {
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

TEST_F(MemorySweep, LimitsThatPlanningHasNoTimeForAreLeftOutWithTheReason) {
  request_.memory_caps = {5000, 10'000};
  int asked = 0;  // the first cap is answered
  planning_end_ = [&asked] {
    return ++asked > 6 ? std::optional<std::string>("the test ended it") : std::nullopt;
  };
  const auto sweep = make();
  sweep->predict({}, planning_end_);
  ResultDocument document;
  document.sweep.axes = sweep->plan().axes;
  document.findings = sweep->findings(document);
  const Json state = sweep->to_json();
  ASSERT_EQ(state["limits"].size(), 1U);
  EXPECT_EQ(state["limits"][0]["largest_batch"], 40);
  EXPECT_EQ(state["limits_left_out"], (Json{{"count", 1}, {"reason", "the test ended it"}}));
  EXPECT_EQ(finding(document, "limits_left_out").claim,
            "Largest batches by plan: 1 of 2 are missing, because the test ended it [give a larger "
            "--time-budget].");
}

TEST_F(MemorySweep, LimitsLeftOutBeforeThePointsArePlannedBehindThem) {
  planning_end_ = [] { return std::optional<std::string>("the points come first"); };
  const ResultDocument document = run();
  EXPECT_EQ(document.sweep.state["limits"].at(0).at("largest_batch"), 40);
  EXPECT_EQ(document.sweep.state["limits"].at(0).at("proof").at("largest_batch"), 40);
  EXPECT_FALSE(document.sweep.state.contains("limits_left_out"));
  const ResultDocument without_time = run(0);
  EXPECT_EQ(without_time.sweep.state["limits_left_out"]["reason"], "the time budget ended");
}

// The process before this one planned them: its time budget is this one's.
TEST_F(MemorySweep, LimitsOfTheProcessBeforeAreKept) {
  const Json state = run().sweep.state;
  planning_end_ = [] { return std::optional<std::string>("no time"); };
  EXPECT_EQ(run(0, state).sweep.state["limits"], state["limits"]);
}

TEST_F(MemorySweep, ARightPlanIsProvedByTwoProbes) {
  const ResultDocument document = run();
  const Json& proof = document.sweep.state["limits"][0]["proof"];
  EXPECT_EQ(proof["largest_batch"], 40);
  EXPECT_EQ(proof["refused_batch"], 41);
  EXPECT_EQ(proof["probes"], 2);
  EXPECT_EQ(proof["tracked_bytes"], 5000);
  EXPECT_EQ(proof["ran_a_step"], true);
  EXPECT_EQ(finding(document, "largest_batch/5000").claim,
            "Within 4.88 KiB: use up to batch 34 of fp32 inference (safe); the largest that fits is 40 "
            "(100 %, danger), proved by allocating.");
}

TEST_F(MemorySweep, AWrongPlanIsFoundOut) {
  use({.unplanned = 1234});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 40);
  EXPECT_EQ(limit["proof"]["largest_batch"], 27);  // 1000 + 1234 + 27 · 100 = 4934
  EXPECT_EQ(limit["proof"]["refused_batch"], 28);
  EXPECT_LE(limit["proof"]["probes"].get<int>(), 2 + 2 * 4);
  EXPECT_THAT(finding(document, "largest_batch/5000").claim,
              HasSubstr("use at most batch 27 of fp32 inference (the plan says 40)"));
}

TEST_F(MemorySweep, TheDevicesOwnCapIsPutBack) {
  machine_.memory().set_cap(777'777);
  run();
  EXPECT_EQ(machine_.memory().cap(), 777'777);
  EXPECT_EQ(machine_.memory().live().total(), 0);
}

TEST_F(MemorySweep, MicroBatchesAreProbedInTheirUnit) {
  request_.modes = {"train"};
  request_.workload_options = {{"accumulate", {"16"}}};
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 32);
  EXPECT_EQ(limit["proof"]["largest_batch"], 32);
  EXPECT_EQ(limit["proof"]["refused_batch"], 48);
}

TEST_F(MemorySweep, BatchesTooSmallToRunAreNotTakenForTheLimit) {
  use({.smallest = 4});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["smallest_batch"], 4);
  EXPECT_EQ(limit["largest_batch"], 40);
  EXPECT_EQ(limit["proof"]["largest_batch"], 40);
}

// Of memory there is more than enough: the operation's own limit is named.
TEST_F(MemorySweep, ALimitOfAnOperationIsNamed) {
  use({.largest = 25});
  const ResultDocument document = run();
  const Json& limit = document.sweep.state["limits"][0];
  EXPECT_EQ(limit["largest_batch"], 25);
  EXPECT_EQ(limit["next_unsupported"], "the kernels count to 2147483647");
  EXPECT_FALSE(limit.contains("next_bytes"));
  EXPECT_EQ(limit["proof"]["largest_batch"], 25);
  EXPECT_THAT(finding(document, "largest_batch/5000").claim,
              AllOf(HasSubstr("use up to batch 25 of fp32 inference"), HasSubstr("proved by allocating"),
                    HasSubstr("; more than batch 25 of fp32 inference is unsupported: the kernels count to "
                              "2147483647.")));
  const ResultDocument after = run(1e9, document.sweep.state);
  EXPECT_EQ(after.sweep.state["limits"], document.sweep.state["limits"]);
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  request_.modes = {"infer", "train"};
  EXPECT_THAT(finding(run(), "largest_batch/5000").claim, HasSubstr("(and 3 others) is unsupported"));
}

TEST_F(MemorySweep, AnOperationsLimitIsNotNamedWhereMemoryEndsFirst) {
  use({.largest = 60});
  const ResultDocument document = run();
  EXPECT_EQ(document.sweep.state["limits"][0]["largest_batch"], 40);
  EXPECT_THAT(finding(document, "largest_batch/5000").claim, Not(HasSubstr("unsupported")));
}

TEST_F(MemorySweep, WhatDoesNotFitAtAllSaysWhatItsFixedPartIs) {
  request_.memory_caps = {500, 5000};
  const ResultDocument document = run();
  EXPECT_THAT(finding(document, "largest_batch/500").claim,
              AllOf(HasSubstr("Nothing fits in 500 B"), HasSubstr("takes 1000 B"),
                    HasSubstr("[give 1.07 KiB, for batch 1 of fp32 inference]")));
  EXPECT_EQ(document.sweep.state["limits"][0]["proof"]["largest_batch"], 0);
  EXPECT_EQ(document.sweep.state["limits"][1]["proof"]["largest_batch"], 40);
}

TEST_F(MemorySweep, ACapWithRoomForTheFixedPartOnlySaysWhatIsMissing) {
  request_.memory_caps = {1050, 5000};
  const ResultDocument document = run();
  EXPECT_THAT(finding(document, "largest_batch/1050").claim,
              HasSubstr("no fp32 inference (batch 1 needs 1.07 KiB, of which its fixed part takes 1000 B)"));
}

TEST_F(MemorySweep, TheTableGivesNoShareOfACapBelowTheFixedPart) {
  request_.memory_caps = {500, 1050, 5000};
  const ResultDocument document = run();
  const std::vector<TextTable> tables = sweep_->tables(document);
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].rows.size(), 4U);
  EXPECT_THAT(tables[0].rows[0], IsSupersetOf({"fixed", "at batch 1"}));
  EXPECT_THAT(tables[0].rows[1],
              IsSupersetOf({"500 B", "1000 B", "1.07 KiB", "none", "fixed part too large"}));
  for (const std::string& cell : tables[0].rows[1]) {
    EXPECT_THAT(cell, Not(HasSubstr("%")));
  }
  EXPECT_THAT(tables[0].rows[2], IsSupersetOf({"none", "none (105 %)"}));
  EXPECT_THAT(tables[0].rows[3], IsSupersetOf({"40 (100 %)", "34"}));
}

TEST_F(MemorySweep, TheSmallestBatchThatRunsNeedNotBeAPowerOfTwo) {
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

TEST_F(MemorySweep, ACapBeyondTheMachineIsAnsweredByPlanOnly) {
  machine_.edit().available_bytes = 4000;
  const ResultDocument document = run();
  const Json& proof = document.sweep.state["limits"][0]["proof"];
  EXPECT_THAT(proof["not_tried"].get<std::string>(), HasSubstr("3.91 KiB free"));
  EXPECT_EQ(machine_.allocations, 0);
  EXPECT_THAT(finding(document, "largest_batch/5000").claim, HasSubstr("by plan, not tried here"));
}

TEST_F(MemorySweep, WithoutTimeNothingIsTried) {
  const ResultDocument document = run(0);
  EXPECT_THAT(document.sweep.state["limits"][0]["proof"]["not_tried"].get<std::string>(),
              HasSubstr("time budget"));
  EXPECT_EQ(machine_.allocations, 0);
}

TEST_F(MemorySweep, ADtypeTheDeviceLacksHasNoLimit) {
  request_.dtypes = {Dtype::fp16, Dtype::fp32};
  const ResultDocument document = run();
  ASSERT_EQ(document.sweep.state["limits"].size(), 1U);
  EXPECT_EQ(document.sweep.state["limits"][0]["label"], "fp32 inference");
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

TEST_F(MemorySweep, ASoakWithoutALeakIsSteady) {
  request_.sweep_options["soak"] = "100";
  const ResultDocument document = run();
  ASSERT_EQ(document.sweep.state["soak"].size(), 1U);
  EXPECT_EQ(document.sweep.state["soak"][0]["done_steps"], 100);
  EXPECT_EQ(document.sweep.state["soak"][0]["samples"].size(), 101U);
  const Finding& growth = finding(document, "memory_growth/fp32 inference");
  EXPECT_EQ(growth.value, 0);
  EXPECT_THAT(growth.claim, HasSubstr("steady over 100 steps"));
}

TEST_F(MemorySweep, ALeakIsFoundWithTheStepsThatAreLeft) {
  use({.leak_a_step = 10});
  request_.sweep_options["soak"] = "5000";
  const ResultDocument document = run();
  EXPECT_LE(document.sweep.state["soak"][0]["samples"].size(), 402U);
  const Finding& growth = finding(document, "memory_growth/fp32 inference");
  ASSERT_TRUE(growth.value);
  EXPECT_DOUBLE_EQ(*growth.value, 10);
  EXPECT_THAT(growth.claim, AllOf(HasSubstr("grows by 10 B"), HasSubstr("outside the device memory"),
                                  HasSubstr("out of memory within 4.88 KiB")));
}

TEST_F(MemorySweep, StepsLeftAreWhatTheCapHasRoomFor) {
  use({.leak_a_step = 1});
  request_.memory_caps = {12'700};  // 16 samples take 2600; 100 steps leak 100
  request_.sweep_options["soak"] = "100";
  const Finding growth = finding(run(), "memory_growth/fp32 inference");
  EXPECT_DOUBLE_EQ(growth.details["steps_until_out_of_memory"].get<double>(), 10'000);
}

// The two ends of many series; each series has a row in the table.
TEST_F(MemorySweep, ManySeriesAreSummedUp) {
  request_.modes = {"infer", "train"};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  const ResultDocument document = run();
  const Finding& largest = finding(document, "largest_batch/5000");
  EXPECT_EQ(largest.headline, 1);
  EXPECT_THAT(largest.claim, AllOf(HasSubstr("Within 4.88 KiB, safe: batch 34 (fp32 inference) to 34 ("),
                                   HasSubstr("), proved by allocating."), Not(HasSubstr("largest"))));
  EXPECT_LE(largest.claim.size(), 110U);
}

TEST_F(MemorySweep, ALeakIsTheFirstHeadline) {
  use({.leak_a_step = 10});
  request_.sweep_options["soak"] = "100";
  EXPECT_EQ(finding(run(), "memory_growth/fp32 inference").headline, 1);
}

TEST_F(MemorySweep, WhatLostTheDeviceIsNotTriedAgain) {
  use({.loses_device_at = 30});
  const ResultDocument lost = run();
  EXPECT_TRUE(lost_);
  EXPECT_EQ(lost.sweep.lost.size(), 1U);
  const Json& proof = lost.sweep.state["limits"][0]["proof"];
  EXPECT_THAT(proof["not_tried"].get<std::string>(), HasSubstr("the device was lost at batch 40"));

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

TEST_F(MemorySweep, RefusesASoakThatIsNoNumberOfSteps) {
  for (const std::string wrong : {"abc", "-1", "3", "1.5", "99999999999999999999", ""}) {
    request_.sweep_options["soak"] = wrong;
    EXPECT_THAT([&] { plan(); }, ThrowsMessage<UsageError>(AllOf(
                                     HasSubstr("--soak"), HasSubstr("'" + wrong + "'"), HasSubstr("25"))))
        << wrong;
  }
}

}  // namespace
}  // namespace bench
