// The memory sweep's findings.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/stub_workload.h"

namespace bench {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct PointOf {
  std::string mode = "train";
  std::string dtype = "fp32";
  std::string optimizer = "sgd";
  std::int64_t batch = 1;
  std::int64_t weights = 100 * kMiB, gradients = 100 * kMiB, states = 0, activations = 10 * kMiB;
  std::int64_t setup = 0;
  std::int64_t driver = 0;  // 0: as planned
  std::int64_t feature_maps = 0;
};

Point made(const PointOf& of) {
  Point point;
  point.name = fmt::format("memory/net/{}/{}/{}/batch:{}", of.mode, of.dtype, of.optimizer, of.batch);
  point.params = {{"batch", of.batch}, {"dtype", of.dtype}, {"mode", of.mode}, {"workload", "net"}};
  if (of.mode == "train") {
    point.params["optimizer"] = of.optimizer;
  }
  point.items_per_step = static_cast<double>(of.batch);
  point.stats.median_ns = 1e6 * static_cast<double>(of.batch);
  point.stats.ci95_ns = {point.stats.median_ns, point.stats.median_ns};
  point.stats.rounds = 3;
  auto& bytes = point.memory.by_category;
  bytes[MemoryCategory::weights] = of.weights;
  bytes[MemoryCategory::gradients] = of.mode == "train" ? of.gradients : 0;
  bytes[MemoryCategory::optimizer] = of.states;
  bytes[MemoryCategory::activations] = of.activations;
  const std::int64_t step = bytes.total();
  point.memory.peak_predicted = point.memory.peak_measured = std::max(step, of.setup);
  point.memory.driver_used = of.driver == 0 ? step : of.driver;
  point.plan = PlannedMemory{.peak_at = of.setup > step ? "packing fc weights" : "backward conv1",
                             .setup_peak = of.setup,
                             .step_peak = step,
                             .feature_maps = of.feature_maps};
  return point;
}

// As of a file that is read back.
std::vector<Finding> findings_of(ResultDocument document) {
  static const WorkloadType workload = testing::stub_workload({"infer", "train"});
  const testing::ManualClock clock;
  SweepRequest request(clock);
  request.workload = &workload;
  request.batches = {1};
  request.memory_caps = {1 << 30};
  testing::FakeDevice device({Dtype::fp32});
  const auto sweep = registry<SweepType>().find("memory")->make(request, device);
  sweep->restore(document);
  return sweep->findings(document);
}

std::vector<Finding> findings_of(const std::vector<PointOf>& points) {
  ResultDocument document;
  for (const PointOf& point : points) {
    document.points.push_back(made(point));
  }
  return findings_of(document);
}

Finding finding_named(const std::vector<Finding>& findings, const std::string& name) {
  const auto at = std::ranges::find(findings, name, &Finding::name);
  if (at == findings.end()) {
    ADD_FAILURE() << "no finding " << name;
    return {};
  }
  return *at;
}

bool contains(const std::vector<Finding>& findings, const std::string& name) {
  return std::ranges::find(findings, name, &Finding::name) != findings.end();
}

TEST(MemoryFindings, NothingMeasuredClaimsNothing) {
  EXPECT_TRUE(findings_of(ResultDocument{}).empty());
}

TEST(MemoryFindings, MultiplesOfTheWeightsAreThoseMeasured) {
  const auto findings = findings_of({{.optimizer = "sgd"},
                                     {.optimizer = "momentum", .states = 100 * kMiB},
                                     {.optimizer = "adam", .states = 200 * kMiB}});
  const Finding multiples = finding_named(findings, "optimizer_multiple/fp32");
  EXPECT_DOUBLE_EQ(*multiples.value, 4);
  expect_words(multiples.claim);
  EXPECT_EQ(multiples.details["adam"]["optimizer"], 200 * kMiB);
}

TEST(MemoryFindings, SixteenBitMultiplesNameTheMasterWeights) {
  const auto findings = findings_of({{.dtype = "bf16", .states = 200 * kMiB}});
  expect_words(finding_named(findings, "optimizer_multiple/bf16").claim);
}

TEST(MemoryFindings, InferenceAloneHasNoMultiple) {
  EXPECT_FALSE(contains(findings_of({{.mode = "infer"}}), "optimizer_multiple/fp32"));
}

TEST(MemoryFindings, TheLineSaysHowFarFromProportionalItIs) {
  const auto findings = findings_of(
      {{.batch = 1}, {.batch = 2, .activations = 20 * kMiB}, {.batch = 4, .activations = 40 * kMiB}});
  const Finding line = finding_named(findings, "memory_line/fp32 training with sgd");
  EXPECT_NEAR(*line.value, 10.0 * kMiB, 1);
  EXPECT_EQ(line.details["fixed_bytes"], 200 * kMiB);
  expect_words(line.claim);
  const auto proportional =
      findings_of({{.mode = "infer", .batch = 1, .weights = 1000, .activations = 10 * kMiB},
                   {.mode = "infer", .batch = 2, .weights = 1000, .activations = 20 * kMiB}});
  expect_words(finding_named(proportional, "memory_line/fp32 inference").claim);
}

TEST(MemoryFindings, ActivationsAreComparedWithTheFeatureMaps) {
  const auto findings = findings_of({{.mode = "infer", .batch = 1, .activations = 5 * kMiB},
                                     {.mode = "infer", .batch = 3, .activations = 15 * kMiB},
                                     {.batch = 1, .activations = 20 * kMiB, .feature_maps = 16 * kMiB},
                                     {.batch = 3, .activations = 60 * kMiB, .feature_maps = 48 * kMiB}});
  const Finding activations = finding_named(findings, "activations_per_sample/fp32");
  EXPECT_DOUBLE_EQ(*activations.value, 4);
  expect_words(activations.claim);
}

TEST(MemoryFindings, ATransientAboveTheStepIsNamed) {
  const auto findings = findings_of({{.batch = 1, .setup = 700 * kMiB}});
  const Finding peak = finding_named(findings, "peak/fp32 training with sgd");
  EXPECT_EQ(*peak.value, 700.0 * kMiB);
  expect_words(peak.claim);
  const auto calm = findings_of({{.batch = 1, .setup = 200 * kMiB}});
  expect_words(finding_named(calm, "peak/fp32 training with sgd").claim);
}

TEST(MemoryFindings, TheSystemsViewIsComparedAndCalibrated) {
  // 10 MiB more than planned at each batch: calibration takes all of it away.
  std::vector<PointOf> points;
  for (const std::int64_t batch : {1, 2, 4, 8}) {
    points.push_back({.batch = batch, .activations = batch * 10 * kMiB});
    points.back().driver = (200 + batch * 10 + 10) * kMiB;
  }
  const Finding system = finding_named(findings_of(points), "system_memory");
  EXPECT_NEAR(*system.value, 10.0 / 220, 1e-9);
  EXPECT_NEAR(system.details["worst_calibrated"].get<double>(), 0, 1e-12);
  expect_words(system.claim);
}

TEST(MemoryFindings, OptionsThatVaryStandInTheLabel) {
  ResultDocument document;
  document.sweep.axes = {{"accumulate", {"1", "4"}}, {"image-size", {"32", "64"}}};
  Point point = made({.batch = 4});
  point.params["accumulate"] = 4;
  point.params["recompute"] = "yes";
  point.params["image-size"] = 64;
  document.points = {point};
  const auto findings = findings_of(document);
  EXPECT_TRUE(contains(findings, "peak/fp32 training with sgd, 4 micro-batches, recomputing, image-size 64"));
}

}  // namespace
}  // namespace bench
