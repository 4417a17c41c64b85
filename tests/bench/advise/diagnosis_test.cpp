// What limits a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "bench/advise/results_advice.h"
#include "tests/bench/advise/advice_files.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using testing::add_measured;
using testing::batch_document;
using testing::batch_file;
using testing::change_named;
using testing::fixed_cost_file;
using ::testing::IsEmpty;
using testing::part_named;
using testing::workers_file;

TEST(Diagnosis, NamesTheStorageWhereTheLoaderSaysSo) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5, true)}), {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::storage);
}

TEST(Diagnosis, NothingPaysWhereTheDeviceNeverWaits) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5)}), {.batch = 16, .workers = 2});
  EXPECT_EQ(advice.bottleneck, Bottleneck::none);
  EXPECT_THAT(advice.changes, IsEmpty());
  expect_words(advice.reason);
}

TEST(Diagnosis, OneSettingAloneDecidesNothing) {
  EvaluatedFile file = batch_file();
  file.document.points.resize(1);
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.reason);
}

TEST(Diagnosis, ALoaderBesideASingleBatchDecidesNothingEither) {
  EvaluatedFile file = batch_file(0.6);
  file.document.points.resize(1);
  const Advice advice = advice_from(StepModel({file, workers_file(0.1)}), {.batch = 1, .workers = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.missing);
  expect_words(advice.warnings);
}

TEST(Diagnosis, AShortWaitIsNotWhatLimitsAStep) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(0.8)}), {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute) << "6.4 of 86.4 ms wait";
  EXPECT_NE(change_named(advice, "workers 0 → 1"), nullptr);
}

TEST(Diagnosis, AGainWithinTheNoiseIsNone) {
  EvaluatedFile noisy = batch_file(0.6);
  const Advice advice = advice_from(StepModel({noisy}), {.batch = 1});
  EXPECT_THAT(advice.changes, IsEmpty());
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.reason);
}

TEST(Diagnosis, AMemoryNearItsCapComesBeforeComputing) {
  EvaluatedFile file = batch_file();
  file.document.points.back().memory.peak_measured = 960;  // of 1000
  const Advice advice = advice_from(StepModel({file}), {.batch = 16});
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  expect_words(advice.reason);
}

TEST(Diagnosis, HostMemoryThatTheWorkersNeedIsNamedFirst) {
  EvaluatedFile workers = workers_file(5);
  workers.document.context.host.memory_bytes = 100;
  const Advice advice = advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 2});
  EXPECT_EQ(advice.bottleneck, Bottleneck::host_memory);
}

TEST(Diagnosis, HostMemoryThatEndedAPointIsNamedFirst) {
  EvaluatedFile workers = workers_file(5);
  workers.document.sweep.state["oom"] = true;
  const StepModel model({batch_file(), workers});
  EXPECT_EQ(advice_from(model, {.batch = 8, .workers = 2}).bottleneck, Bottleneck::host_memory);
  EXPECT_EQ(advice_from(model, {.batch = 8, .workers = 1}).bottleneck, Bottleneck::none);
}

TEST(Diagnosis, WorkersThatTakeTheCoresOfComputingAreTheLoaders) {
  EvaluatedFile workers = workers_file(5);
  workers.document.sweep.state["slowdown"] = 0.2;
  const StepModel model({batch_file(), workers});
  const Advice advice = advice_from(model, {.batch = 8, .workers = 4});
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader_cpu);
  expect_words(advice.reason);
  EXPECT_EQ(advice.changes.front().what, "workers 4 → 1");
}

// 80 ms of computing, 100 of loading with one worker.
TEST(Diagnosis, AWaitThatOtherProgramsMayHaveMadeIsUndecided) {
  EvaluatedFile workers = workers_file(12.5);
  workers.document.sweep.state["other_cores"] = 1;  // the second one
  EXPECT_EQ(advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 1}).bottleneck,
            Bottleneck::loader_cpu);
  workers.document.sweep.state["other_cores"] = 1.5;
  const Advice advice = advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.reason);
  expect_words(advice.missing);
}

TEST(Diagnosis, AHostThatStartsOperationsSlowerThanAPredictedCardEndsThemIsNamed) {
  EvaluatedFile file{.path = "batch.json", .document = testing::predicted_document("t4")};
  for (const std::int64_t batch : {1, 3}) {
    testing::add_predicted(file.document, "fp32", batch, batch == 1 ? 25 : 30, 0.1, 100 * batch);
    Json& model = file.document.points.back().prediction.model;
    model["host_ns"] = 36e6;
    model["gpu_ns"] = batch == 1 ? 20e6 : 95e6;  // of 40 and 100 ms
  }
  const StepModel model({file});
  const Advice small = advice_from(model, {.batch = 1});
  EXPECT_EQ(small.bottleneck, Bottleneck::launch);
  expect_words(small.reason);
  EXPECT_NEAR(part_named(small, "launching"), 20e6, 1);
  EXPECT_NEAR(part_named(small, "computing"), 20e6, 1);
  EXPECT_NE(advice_from(model, {.batch = 3}).bottleneck, Bottleneck::launch);
}

TEST(Diagnosis, AMemoryThatStopsTheBatchIsNamedWhereALargerOneWouldPay) {
  EvaluatedFile file = fixed_cost_file();
  file.document.context.peaks[Dtype::fp32].bytes_per_s = 0.25e9;
  EvaluatedFile memory{.path = "memory.json", .document = batch_document("gpu")};
  memory.document.sweep.name = "memory";
  memory.document.sweep.memory_cap_bytes = 600;
  memory.document.sweep.state["limits"] = {
      {{"params", {{"dtype", "fp32"}, {"mode", "train"}}}, {"largest_batch", 5}, {"safe_batch", 4}}};
  const StepModel model({file, memory});
  const Advice advice = advice_from(model, {.batch = 4});
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  expect_words(advice.reason);
  EXPECT_EQ(advice_from(model, {.batch = 1}).bottleneck, Bottleneck::compute);
}

TEST(Diagnosis, AGainThatNoiseLeavesOpenIsCalledSo) {
  const auto advice_at = [](double rate_of_8) {
    EvaluatedFile file{.path = "batch.json", .document = batch_document("gpu")};
    file.document.sweep.mode = "train";
    file.document.context.device.kind = "cpu";
    add_measured(file.document, "fp32", 4, 40, 0.4, 500);
    add_measured(file.document, "fp32", 8, rate_of_8, 0.4, 560);
    EvaluatedFile memory{.path = "memory.json", .document = batch_document("gpu")};
    memory.document.sweep.name = "memory";
    memory.document.sweep.memory_cap_bytes = 600;
    memory.document.sweep.state["limits"] = {
        {{"params", {{"dtype", "fp32"}, {"mode", "train"}}}, {"largest_batch", 9}, {"safe_batch", 5}}};
    return advice_from(StepModel({file, memory}), {.batch = 4});
  };
  const Advice much = advice_at(50);
  EXPECT_EQ(much.bottleneck, Bottleneck::vram);
  expect_words(much.reason);
  EXPECT_EQ(advice_at(43).bottleneck, Bottleneck::none);
}

TEST(Diagnosis, ASettingThatNoiseLetsBeTwiceAsFastIsNotNothingToGain) {
  const auto advice_with = [](double noise) {
    EvaluatedFile file{.path = "batch.json", .document = batch_document("gpu")};
    file.document.sweep.mode = "train";
    file.document.context.device.kind = "cpu";
    add_measured(file.document, "fp32", 4, 40, noise, 500);
    add_measured(file.document, "fp32", 8, 43, noise, 560);
    return advice_from(StepModel({file}), {.batch = 4});
  };
  const Advice noisy = advice_with(0.4);
  EXPECT_EQ(noisy.bottleneck, Bottleneck::undecided);
  expect_words(noisy.reason);
  EXPECT_NE(advice_with(0.01).bottleneck, Bottleneck::undecided);
}

}  // namespace
}  // namespace bench
