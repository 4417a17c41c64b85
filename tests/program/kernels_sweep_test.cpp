// bench --sweep kernels, as a user runs it, on few small points.
#include <algorithm>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Arguments kernels_run(const std::filesystem::path& out) {
  return rounds(3) + Arguments{"--sweep", "kernels", "--device", "cpu", "--out", out.string()};
}

TEST(KernelsSweepProgram, CoversSeveralWorkloadsInOneResult) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(
      kernels_run(folder.path()) +
      Arguments{"--dtype", "fp32", "--benchmark_filter=triad.*elements:16384/|steps:4/|hot.*columns:128/"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto file = folder.path() / "kernels-all-cpu.json";
  EXPECT_EQ(schema_errors(read_file(file)), "");
  const ResultDocument document = read_result(file);
  EXPECT_EQ(document.points.size(), 4U) << ended.out;
  EXPECT_EQ(std::ranges::count(document.findings, "arithmetic_peak/fp32", &Finding::name), 1);
  const auto memory = std::ranges::find(document.findings, "memory_bandwidth", &Finding::name);
  ASSERT_NE(memory, document.findings.end());
  EXPECT_THAT(memory->claim, HasSubstr("No roofline")) << "no array of these is larger than the caches";
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "kernels-all-cpu.svg"));
  for (const Point& point : document.points) {
    EXPECT_EQ(point.memory.peak_predicted, point.memory.peak_measured) << point.name;
    EXPECT_LE(point.verification.value().error, point.verification.value().tolerance);
  }
}

TEST(KernelsSweepProgram, OneWorkloadWithItsOwnOptions) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(kernels_run(folder.path()) + Arguments{"--workload", "gemm", "--inner", "48",
                                                                       "--columns", "32", "--batch", "16",
                                                                       "--dtype", "fp32", "--no-plot"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = read_result(folder.path() / "kernels-gemm-cpu.json");
  ASSERT_EQ(document.points.size(), 2U);
  EXPECT_EQ(document.points[0].params.at("inner"), 48);
  EXPECT_EQ(document.points[0].work.flops, 2 * 16 * 48 * 32);
  EXPECT_EQ(std::ranges::count(document.findings, "arithmetic_peak/fp32", &Finding::name), 1);
}

TEST(KernelsSweepProgram, ListsItsPointsWithoutRunning) {
  const Ended ended = run_bench({"--sweep", "kernels", "--device", "cpu", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("kernels/fma/forward/fp32/hot/elements:4194304/steps:1024/batch:1"),
                               HasSubstr("kernels/conv2d/backward-weights/fp32/hot"),
                               HasSubstr("conv2d has no implicit_gemm implementation on cpu")));
}

TEST(KernelsSweepProgram, TensorCoresAreUnsupportedOnTheCpuWithTheReason) {
  const TemporaryFolder folder;
  const Ended ended =
      run_bench(kernels_run(folder.path()) + Arguments{"--workload", "fma", "--mode", "tensor-cores",
                                                       "--dtype", "fp32", "--elements", "4096", "--no-plot"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const ResultDocument document = read_result(folder.path() / "kernels-fma-cpu.json");
  EXPECT_EQ(document.points.size(), 0U);
  ASSERT_EQ(document.unmeasured.size(), 6U);
  for (const UnmeasuredPoint& point : document.unmeasured) {
    EXPECT_EQ(point.status, "unsupported");
    expect_words(point.reason);
  }
}

// It may have been so by the environment, as with NVIDIA_TF32_OVERRIDE.
TEST(KernelsSweepProgram, WhatWasUnsupportedIsAskedAgainWhenItIsResumed) {
  const TemporaryFolder folder;
  const auto run = [&](const char* rows, const Arguments& more) {
    return run_bench(kernels_run(folder.path()) +
                     Arguments{"--workload", "fma", "--mode", "tensor-cores", "--dtype", "fp32", "--elements",
                               "4096", "--steps", "4", "--no-plot", "--batch", rows} +
                     more);
  };
  ASSERT_EQ(run("1,2", {}).code, 3);
  const auto file = folder.path() / "kernels-fma-cpu.json";
  Json document = Json::parse(read_file(file));
  for (Json& point : document.at("unmeasured")) {
    point["reason"] = "it was so yesterday";
  }
  std::ofstream(file) << document;
  const Ended ended = run("2", {"--resume"});
  ASSERT_EQ(ended.code, 3) << ended.err;
  const ResultDocument resumed = read_result(file);
  ASSERT_EQ(resumed.unmeasured.size(), 2U);
  for (const UnmeasuredPoint& point : resumed.unmeasured) {
    EXPECT_EQ(point.status, "unsupported");
    EXPECT_EQ(point.reason == "it was so yesterday", point.params.at("batch") == 1)
        << point.name << ": " << point.reason;
  }
}

TEST(KernelsSweepProgram, BatchesBeyondAllCountingAreRefusedInASentence) {
  for (const auto& [workload, batch] :
       {std::pair{"gemm", "9223372036854775807"}, std::pair{"gemm", "4294967296"},
        std::pair{"stream", "4611686018427387904"}, std::pair{"fma", "2305843009213693952"}}) {
    for (const char* sweep : {"batch", "kernels", "memory"}) {
      if (sweep == std::string("kernels") && workload == std::string("gemm")) {
        continue;  // there the batch is the size of the square matrices too, which is checked
      }
      SCOPED_TRACE(std::string(sweep) + " " + workload + " " + batch);
      const Ended ended = run_bench({"--sweep", sweep, "--device", "cpu", "--workload", workload, "--batch",
                                     batch, "--memory-cap", "100MiB", "--dtype", "fp32", "--dry-run"});
      EXPECT_EQ(ended.code, 0) << ended.err;
      EXPECT_THAT(ended.out, ::testing::AnyOf(HasSubstr("oom: "), HasSubstr("unsupported: ")));
    }
  }
}

}  // namespace
}  // namespace bench::testing
