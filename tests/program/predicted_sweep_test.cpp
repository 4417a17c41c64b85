// bench --sweep on a GPU that is not here: predicted points, and nothing that was measured.
#include <filesystem>
#include <string_view>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PredictedSweep : public ::testing::Test {
 protected:
  // Runs the sweep on the card; the document that it wrote, which holds no measured point.
  ResultDocument predicted(const std::string& file, const Arguments& arguments) {
    ended_ = run_bench(arguments + Arguments{"--no-plot", "--out", folder_.path().string()});
    EXPECT_EQ(ended_.code, 0) << ended_.err;
    const std::filesystem::path path = folder_.path() / file;
    EXPECT_EQ(schema_errors(read_file(path)), "");
    ResultDocument document = read_result(path);
    EXPECT_TRUE(measured_points(document).empty());
    EXPECT_EQ(document.context.device.kind, "modelled");
    EXPECT_THAT(document.findings, Each(Field(&Finding::claim, HasSubstr("redicted"))));
    return document;
  }

  TemporaryFolder folder_;
  Ended ended_;
};

const Finding& finding(const ResultDocument& document, std::string_view name) {
  return *std::ranges::find(document.findings, name, &Finding::name);
}

TEST_F(PredictedSweep, BatchesOfANetwork) {
  const ResultDocument document =
      predicted("batch-resnet18-t4-predicted.json",
                {"--sweep", "batch", "--device", "t4", "--workload", "resnet18", "--dtype", "fp32,fp16"});
  for (const Point& point : document.points) {
    const Estimate step = point.step_ns();
    ASSERT_TRUE(step.ci95) << point.name;
    EXPECT_LT(step.low(), step.value);
    EXPECT_GT(step.high(), step.value);
    EXPECT_EQ(point.memory.by_category.total(), point.peak());
    EXPECT_EQ(point.prediction.model.at("card"), "t4");
  }
  const auto at64 = std::ranges::find(document.points, "batch/resnet18/infer/fp32/batch:64", &Point::name);
  ASSERT_NE(at64, document.points.end());
  EXPECT_NEAR(at64->step_ns().value, 56.585e6, 1e4) << "the worked example of the model";
  EXPECT_GT(finding(document, "speedup_fp16").value, 1);
  EXPECT_GT(finding(document, "largest_batch/fp32").value, 64);
  EXPECT_EQ(finding(document, "limit_below_ceiling/fp32").details.at("limit"), "launch");
  EXPECT_EQ(finding(document, "limit_at_ceiling/fp32").details.at("limit"), "compute");
  EXPECT_EQ(document.context.datasheet.at("id"), "t4");
}

TEST_F(PredictedSweep, ATrainingStepCastWhole) {
  const ResultDocument half =
      predicted("batch-resnet18-a100-40gb-predicted.json",
                {"--sweep", "batch", "--device", "a100-40gb", "--workload", "resnet18", "--mode", "train",
                 "--dtype", "half", "--batch", "64", "--optimizer", "adam"});
  const ResultDocument autocast =
      predicted("batch-resnet18-a100-40gb-predicted.json",
                {"--sweep", "batch", "--device", "a100-40gb", "--workload", "resnet18", "--mode", "train",
                 "--dtype", "fp16", "--batch", "64", "--optimizer", "adam"});
  ASSERT_EQ(half.points.size(), 1U);
  ASSERT_EQ(autocast.points.size(), 1U);
  EXPECT_LT(half.points[0].memory.by_category[MemoryCategory::weights],
            autocast.points[0].memory.by_category[MemoryCategory::weights]);
  EXPECT_EQ(half.context.detail("cast"), "whole");
}

TEST_F(PredictedSweep, WhatDoesNotFit) {
  const ResultDocument document =
      predicted("batch-resnet18-t4-predicted.json", {"--sweep", "batch", "--device", "t4", "--workload",
                                                     "resnet18", "--dtype", "fp32", "--batch", "1,1000000"});
  EXPECT_EQ(document.points.size(), 1U);
  ASSERT_EQ(document.unmeasured.size(), 1U);
  EXPECT_EQ(document.unmeasured[0].status, "oom");
}

TEST_F(PredictedSweep, Memory) {
  const ResultDocument document = predicted("memory-resnet18-t4-predicted.json",
                                            {"--sweep", "memory", "--device", "t4", "--workload", "resnet18",
                                             "--dtype", "fp32", "--memory-cap", "8GiB,14GiB"});
  EXPECT_GT(finding(document, "largest_batch/15032385536").value, 0);
  EXPECT_NEAR(*finding(document, "optimizer_multiple/fp32").value, 4, 0.01) << "adam";
}

Json workspace_of(const Point& point) {
  return point.prediction.model.value("workspace", Json::object());
}

// Where cuDNN is at hand and plans without a driver, it does.
TEST_F(PredictedSweep, WorkspaceIsPlannedWhereItCanBe) {
  const Arguments sweep{"--sweep", "memory", "--workload", "resnet18", "--mode",  "infer",
                        "--dtype", "fp16",   "--batch",    "8",        "--device"};
  const ResultDocument t4 = predicted("memory-resnet18-t4-predicted.json", sweep + Arguments{"t4"});
  ASSERT_EQ(t4.points.size(), 1U);
  const Point& point = t4.points.front();
  EXPECT_EQ(point.memory.by_category.total(), point.peak());
  if (const Json workspace = workspace_of(point); workspace.contains("planned_by")) {
    EXPECT_GT(point.memory.by_category[MemoryCategory::workspace], 0);
    EXPECT_LE(point.memory.by_category[MemoryCategory::workspace],
              workspace.at("planned_bytes").get<std::int64_t>());
  } else {
    EXPECT_NE(workspace.value("why_not", ""), "");
    EXPECT_EQ(point.memory.by_category[MemoryCategory::workspace], 0);
  }

  const ResultDocument volta =
      predicted("memory-resnet18-v100-16gb-predicted.json", sweep + Arguments{"v100-16gb"});
  ASSERT_EQ(volta.points.size(), 1U);
  EXPECT_EQ(volta.points.front().peak(), point.peak()) << "the total does not depend on the plan";
  EXPECT_EQ(volta.points.front().memory.by_category[MemoryCategory::workspace], 0);
  EXPECT_NE(workspace_of(volta.points.front()).value("why_not", ""), "");
}

// A step that computes values again takes less memory, and a time that is not known.
TEST_F(PredictedSweep, MemoryOfValuesThatAreComputedAgain) {
  const auto point = [&](const char* recompute) {
    const ResultDocument document =
        predicted("memory-resnet50-t4-predicted.json",
                  {"--sweep", "memory", "--device", "t4", "--workload", "resnet50", "--mode", "train",
                   "--dtype", "fp32", "--optimizer", "sgd", "--batch", "64", "--recompute", recompute});
    EXPECT_EQ(document.points.size(), 1U);
    return document.points.front();
  };
  const Point kept = point("no");
  const Point again = point("yes");
  EXPECT_TRUE(kept.is_timed());
  EXPECT_EQ(again.origin, Origin::planned);
  EXPECT_FALSE(again.is_timed());
  EXPECT_LT(static_cast<double>(again.peak()), 0.8 * static_cast<double>(kept.peak()));
  EXPECT_EQ(again.memory.by_category.total(), again.peak());
}

// Memory needs no measured time.
TEST_F(PredictedSweep, MemoryOfThisProgramsEngine) {
  const Arguments sweep{"--sweep",
                        "memory",
                        "--workload",
                        "resnet18",
                        "--mode",
                        "train",
                        "--optimizer",
                        "sgd",
                        "--dtype",
                        "fp16",
                        "--batch",
                        "8,16",
                        "--framework",
                        "bench",
                        "--no-plot",
                        "--out",
                        folder_.path().string(),
                        "--device"};
  const Ended ended = run_bench(sweep + Arguments{"t4"});
  if (ended.code == 0) {
    const std::filesystem::path path = folder_.path() / "memory-resnet18-t4-predicted.json";
    EXPECT_EQ(schema_errors(read_file(path)), "");
    const ResultDocument document = read_result(path);
    ASSERT_EQ(document.points.size(), 2U);
    for (const Point& point : document.points) {
      EXPECT_EQ(point.origin, Origin::planned);
      EXPECT_FALSE(point.is_timed());
      EXPECT_EQ(point.memory.by_category.total(), point.peak());
    }
    EXPECT_GT(finding(document, "memory_line/fp16 training with sgd").details.at("slope_bytes"), 0);
  } else {
    EXPECT_EQ(ended.code, 3) << ended.err;
  }
  const Ended volta = run_bench(sweep + Arguments{"v100-16gb"});
  EXPECT_EQ(volta.code, 3) << "nothing is known: " << volta.err;
}

TEST_F(PredictedSweep, TransferByTheDataSheet) {
  const ResultDocument document =
      predicted("transfer-resnet18-t4-predicted.json",
                {"--sweep", "transfer", "--device", "t4", "--workload", "resnet18", "--batch", "32"});
  EXPECT_NEAR(*finding(document, "bus").value, 15.75e9, 0.1e9) << "PCIe 3.0 x16";
  const Finding& input = finding(document, "input/batch:32");
  EXPECT_EQ(input.details.at("bytes"), 32 * 3 * 224 * 224 * 4);
  EXPECT_GT(input.value, 0);
}

TEST_F(PredictedSweep, Kernels) {
  const ResultDocument document =
      predicted("kernels-gemm-t4-predicted.json",
                {"--sweep", "kernels", "--device", "t4", "--workload", "gemm", "--dtype", "fp16"});
  EXPECT_NEAR(*finding(document, "arithmetic_peak/fp16").value, 65e12, 1e12);
  const Finding& share = finding(document, "roofline_share/gemm/fp16");
  EXPECT_GT(share.value, 0);
  EXPECT_LE(share.value, 1);
  for (const Point& point : document.points) {
    const Estimate step = point.step_ns();
    EXPECT_GT(step.high(), 1.2 * step.value) << point.name << ": no card of Turing was measured";
  }
}

TEST_F(PredictedSweep, NoKernelIsFasterThanMemoryAllows) {
  const ResultDocument document =
      predicted("kernels-stream-h100-sxm-predicted.json",
                {"--sweep", "kernels", "--device", "h100-sxm", "--workload", "stream"});
  const double bytes_per_s = document.context.datasheet.at("bytes_per_s").get<double>();
  for (const Point& point : document.points) {
    EXPECT_LE(point.prediction.model.at("bytes").get<double>() / point.step_ns().value * 1e9,
              1.0001 * bytes_per_s)
        << point.name;
    EXPECT_EQ(point.prediction.model.at("host_ns"), 0) << "the kernel alone";
  }
}

}  // namespace
}  // namespace bench::testing
