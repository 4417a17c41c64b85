// The roofline, on invented points.
#include <gmock/gmock.h>

#include "tests/sweeps/kernels_example.h"

namespace bench::sweeps {
namespace {

using kernels_example::example;
using kernels_example::findings_in;
using kernels_example::named;
using kernels_example::point;
using kernels_example::roofline_in;
using ::testing::HasSubstr;

TEST(Roofline, TakesItsCeilingsFromTheBestPoints) {
  const Roofline roofline = roofline_in(example());
  ASSERT_TRUE(roofline.memory);
  EXPECT_DOUBLE_EQ(roofline.memory->rate.value, 10e9) << "of the large arrays, not of what a cache may hold";
  EXPECT_DOUBLE_EQ(roofline.compute.at("fp32").rate.value, 200e9);
  EXPECT_DOUBLE_EQ(roofline.ridge("fp32")->value, 20);
  EXPECT_FALSE(roofline.ridge("bf16"));
}

// Twice the 4 MB of the cache, and 16 MiB, are enough; of all that pass the fastest is the roof.
TEST(Roofline, TheBestOfTheArraysBeyondTheCachesIsMemorysCeilingAndIsNamed) {
  ResultDocument document = example();
  document.benchmarks.push_back(point(
      {.workload = "stream", .caches = "cold", .bytes = 2e7, .ns = 1e6, .mode = "read", .rest = "mid"}));
  EXPECT_DOUBLE_EQ(roofline_in(document).memory->rate.value, 20e9);
  const std::vector<Finding> findings = findings_in(document);
  const Finding* memory = named(findings, "memory_bandwidth");
  EXPECT_EQ(memory->claim,
            "Memory delivers 20.0 ± 0.2 GB/s, read and written (read on 19.1 MiB, cold caches).");
  EXPECT_EQ(memory->evidence.size(), 3U) << "all that are compared, none that a cache may hold";
}

TEST(Roofline, LimitsByTheLowerOfTheTwo) {
  const std::vector<KernelResult> points = read_results(example());
  const Roofline roofline = roofline_of(points, 4e6);
  const auto limit = [&](const std::string& end) {
    return roofline
        .limit(*std::ranges::find_if(points, [&](const auto& one) { return one.name.ends_with(end); }))
        ->value;
  };
  EXPECT_DOUBLE_EQ(limit("conv2d/forward/fp32/hot/a"), 50e9) << "5 FLOP/B at 10 GB/s";
  EXPECT_DOUBLE_EQ(limit("conv2d/forward/fp32/hot/b"), 200e9);
}

TEST(Roofline, APointAboveThePeakSetsNoCeiling) {
  ResultDocument document = example();
  document.benchmarks.push_back(point({.workload = "gemm",
                                       .caches = "hot",
                                       .flops = 1e11,
                                       .bytes = 1e8,
                                       .ns = 5e7,
                                       .rest = "n:2",
                                       .flags = {"above_peak"}}));
  EXPECT_DOUBLE_EQ(roofline_in(document).compute.at("fp32").rate.value, 200e9);
}

TEST(Roofline, ArraysThatACacheHoldsSayNothingOfMemory) {
  ResultDocument document = example();
  document.context.caches[1].size = 60'000'000;
  EXPECT_FALSE(roofline_in(document).memory);
  const std::vector<Finding> findings = findings_in(document);
  EXPECT_FALSE(named(findings, "memory_bandwidth")->value);
  EXPECT_THAT(named(findings, "memory_bandwidth")->claim, HasSubstr("57.2 MiB"));
  EXPECT_EQ(named(findings, "ridge/fp32"), nullptr);
  document.context.device.kind = "cuda";
  document.context.device.details["l2_bytes"] = "4000000";
  EXPECT_TRUE(roofline_in(document).memory);
  EXPECT_EQ(last_cache_bytes(RunContext{}), 0);
}

TEST(Roofline, WhatMemoryPacesIsNoArithmeticCeiling) {
  ResultDocument document = example();
  std::erase_if(document.benchmarks, [](const MeasuredPoint& one) {
    return one.params.at("workload") == "gemm" || one.params.at("workload") == "conv2d";
  });
  document.benchmarks.push_back(
      point({.workload = "fma", .caches = "hot", .flops = 2.5e7, .bytes = 1e8, .ns = 1e7}));
  EXPECT_TRUE(roofline_in(document).compute.empty()) << "neither triad nor a multiply-add an element";
  EXPECT_EQ(named(findings_in(document), "arithmetic_peak/fp32"), nullptr);
}

}  // namespace
}  // namespace bench::sweeps
