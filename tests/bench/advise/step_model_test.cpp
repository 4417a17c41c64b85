// The time of a step from results, and which results and settings have one.
#include "bench/advise/step_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/advise/results_advice.h"
#include "bench/error.h"
#include "tests/bench/advise/advice_files.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using testing::add_measured;
using testing::batch_document;
using testing::batch_file;
using testing::fixed_cost_file;
using testing::part_named;
using testing::workers_file;

std::string refusal(const std::vector<EvaluatedFile>& files, const TrainingSettings& current = {}) {
  try {
    static_cast<void>(advice_from(StepModel(files), current));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(StepModel, RefusesWhatDoesNotBelongTogether) {
  expect_words(refusal({batch_file(), batch_file()}));
  EvaluatedFile other = workers_file(5);
  other.document.context.host.cpu = "other";
  expect_words(refusal({batch_file(), other}));
  EvaluatedFile memory = batch_file();
  memory.document.sweep.name = "memory";
  expect_words(refusal({memory}));
  memory.document.sweep.workload = "vgg16";
  expect_words(refusal({batch_file(), memory}));
  expect_words(refusal({batch_file()}, {.batch = 64}));
  expect_words(refusal({batch_file()}, {.batch = 8, .dtype = "fp16"}));
  expect_words(refusal({workers_file(5)}, {.batch = 9}));
}

TEST(StepModel, SettingsBeyondAHostAreRefused) {
  const StepModel model({batch_file(), workers_file(5)});
  EXPECT_THROW(advice_from(model, {.batch = 8, .workers = 10'000}), UsageError);
  EXPECT_THROW(advice_from(model, {.batch = 8, .workers = 4, .prefetch = 1'000'000}), UsageError);
  EXPECT_THROW(advice_from(model, {.batch = 8, .cards = 1000}), UsageError);
  // A processor is one device.
  EXPECT_THROW(advice_from(StepModel({fixed_cost_file()}), {.batch = 4, .cards = 2}), UsageError);
}

TEST(StepModel, InferenceAccumulatesNothing) {
  EvaluatedFile file = batch_file();
  file.document.sweep.mode = "infer";
  expect_words(refusal({file}, {.batch = 8, .accumulate = 8}));
}

TEST(StepModel, ABatchBetweenMeasuredOnesLiesOnTheirLine) {
  const Advice advice = advice_from(StepModel({batch_file()}), {.batch = 12});
  EXPECT_NEAR(advice.step_ns, 120e6, 1);
}

TEST(StepModel, FixedTimeBeyondTheWeightsIsLaunching) {
  const EvaluatedFile file = fixed_cost_file();
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::launch);
  EXPECT_NEAR(part_named(advice, "launching"), 30e6, 1);
  EXPECT_NEAR(part_named(advice, "computing"), 20e6, 1);
}

TEST(StepModel, FixedTimeOfTheWeightsIsComputing) {
  EvaluatedFile file = fixed_cost_file();
  file.document.context.peaks[Dtype::fp32].bytes_per_s = 0.25e9;
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute);
  EXPECT_EQ(part_named(advice, "launching"), 0);
  EXPECT_EQ(advice.changes.front().what, "batch 1 → 4");
}

TEST(StepModel, FixedTimeBeyondWhatAnOperationTakesToStartIsComputing) {
  EvaluatedFile file = fixed_cost_file();
  for (Point& point : file.document.points) {
    point.work.launches = 100;
  }
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute);
  EXPECT_NEAR(part_named(advice, "launching"), 2e6, 1);
}

TEST(StepModel, AKernelsResultTellsBandwidthAndTheShortestOperation) {
  EvaluatedFile kernels{.path = "kernels.json", .document = batch_document("gpu")};
  kernels.document.sweep.name = "kernels";
  Finding bandwidth = finding_of("memory_bandwidth", "B/s");
  bandwidth.value = 0.5e9;
  kernels.document.findings.push_back(bandwidth);
  EXPECT_NEAR(part_named(advice_from(StepModel({fixed_cost_file(), kernels}), {.batch = 1}), "launching"),
              20e6, 1);
  add_measured(kernels.document, "fp32", 1, 1e6);  // 1 µs
  kernels.document.points.back().work.launches = 1;
  EXPECT_NEAR(part_named(advice_from(StepModel({fixed_cost_file(), kernels}), {.batch = 1}), "launching"),
              10e6, 1);
}

}  // namespace
}  // namespace bench
