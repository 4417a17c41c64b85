// The roofline, on invented points.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/kernels_example.h"

namespace bench::sweeps {
namespace {

using kernels_example::example;
using kernels_example::findings_in;
using kernels_example::named;
using kernels_example::operation;
using kernels_example::roofline_in;
using kernels_example::stream;

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
  document.points.push_back(stream("read", "cold", 2e7, 1e6, "mid"));
  EXPECT_DOUBLE_EQ(roofline_in(document).memory->rate.value, 20e9);
  const std::vector<Finding> findings = findings_in(document);
  const Finding* memory = named(findings, "memory_bandwidth");
  EXPECT_EQ(memory->claim,
            "Memory delivers 20.0 ± 0.2 GB/s, read and written (read on 19.1 MiB, cold caches).");
  EXPECT_EQ(memory->evidence.size(), 3U) << "all that are compared, none that a cache may hold";
}

// One lucky sample among slow ones has the best median, and an interval that proves nothing.
TEST(Roofline, ALuckySampleIsNoCeiling) {
  ResultDocument document = example();
  const auto add_noisy = [&](Point point, Interval ci95_ns) {
    point.stats.ci95_ns = ci95_ns;
    document.points.push_back(std::move(point));
  };
  add_noisy(operation("gemm", "hot", 1e10, 2.5e7, "lucky"), {2e7, 8e9});
  add_noisy(stream("add", "cold", 1e8, 5e6, "lucky"), {4e6, 1e9});
  add_noisy(stream("add", "hot", 1e6, 1e4, "lucky"), {1e4, 1e9});
  const Roofline roofline = roofline_in(document);
  EXPECT_NEAR(roofline.compute.at("fp32").rate.value, 200e9, 1e7);
  EXPECT_NEAR(roofline.memory->rate.value, 10e9, 1e6);
  EXPECT_NEAR(*named(findings_in(document), "cache_bandwidth")->value, 40e9, 4e6);
}

// Six cold kernels of one speed, ±4 % each: the roof is their mean, not the luckiest, and has an interval.
TEST(Roofline, EqualKernelsArePooled) {
  ResultDocument document = example();
  document.points.erase(document.points.begin(), document.points.begin() + 2);
  for (const double off : {-0.02, -0.01, -0.005, 0.005, 0.01, 0.02}) {
    Point kernel = stream("triad", "cold", 1e8, 1e7 / (1 + off), "k" + std::to_string(off));
    kernel.stats.ci95_ns = {0.96 * kernel.stats.median_ns, 1.04 * kernel.stats.median_ns};
    document.points.push_back(kernel);
  }
  const Roofline roofline = roofline_in(document);
  EXPECT_NEAR(roofline.memory->rate.value, 10e9, 0.01e9);
  ASSERT_TRUE(roofline.memory->rate.ci95);
  EXPECT_EQ(roofline.memory->rivals.size(), 5U);
  const std::vector<Finding> findings = findings_in(document);
  expect_words(named(findings, "memory_bandwidth")->claim);
  EXPECT_TRUE(named(findings, "memory_bandwidth")->ci95);
}

// A point of one round has no interval: it sets no roof next to one that has.
TEST(Roofline, APointWithoutAnIntervalSetsNoRoof) {
  ResultDocument document = example();
  document.points.push_back(operation("gemm", "hot", 1e10, 2e7, "once"));
  document.points.back().stats.ci95_ns.reset();
  EXPECT_DOUBLE_EQ(roofline_in(document).compute.at("fp32").rate.value, 200e9);
  for (Point& point : document.points) {
    point.stats.ci95_ns.reset();
  }
  EXPECT_DOUBLE_EQ(roofline_in(document).compute.at("fp32").rate.value, 500e9);
  EXPECT_FALSE(named(findings_in(document), "arithmetic_peak/fp32")->ci95);
  EXPECT_EQ(named(findings_in(document), "arithmetic_peak/fp32")->interval_kind, "none");
}

// The last cache of a server, 260 MiB: arrays of 402 MB say nothing of memory, of 805 MB they do.
TEST(Roofline, ALargeLastCacheNeedsLargerArrays) {
  ResultDocument document = example();
  document.context.caches[1].size = 260LL << 20;
  document.points.push_back(stream("triad", "cold", 402'653'184, 4e7, "l"));
  EXPECT_FALSE(roofline_in(document).memory);
  EXPECT_EQ(named(findings_in(document), "memory_bandwidth")->claim,
            "No roofline: cold arrays of 384 MiB are below twice the 260 MiB cache [give more --elements].");
  document.points.push_back(stream("triad", "cold", 805'306'368, 8e7, "x"));
  ASSERT_TRUE(roofline_in(document).memory);
  EXPECT_NEAR(roofline_in(document).memory->rate.value, 10e9, 1e8);
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
  document.points.push_back(operation("gemm", "hot", 1e11, 5e7, "n:2"));
  document.points.back().validity.flags = {"above_peak"};
  EXPECT_DOUBLE_EQ(roofline_in(document).compute.at("fp32").rate.value, 200e9);
}

TEST(Roofline, ArraysThatACacheHoldsSayNothingOfMemory) {
  ResultDocument document = example();
  document.context.caches[1].size = 60'000'000;
  EXPECT_FALSE(roofline_in(document).memory);
  const std::vector<Finding> findings = findings_in(document);
  EXPECT_FALSE(named(findings, "memory_bandwidth")->value);
  expect_words(named(findings, "memory_bandwidth")->claim);
  EXPECT_EQ(named(findings, "ridge/fp32"), nullptr);
  document.context.device.kind = "cuda";
  document.context.device.details["l2_bytes"] = "4000000";
  EXPECT_TRUE(roofline_in(document).memory);
  EXPECT_EQ(last_cache_bytes(RunContext{}), 0);
}

TEST(Roofline, WhatMemoryPacesIsNoArithmeticCeiling) {
  ResultDocument document = example();
  std::erase_if(document.points, [](const Point& one) {
    return one.params.at("workload") == "gemm" || one.params.at("workload") == "conv2d";
  });
  document.points.push_back(operation("fma", "hot", 2.5e7, 1e7, ""));
  EXPECT_TRUE(roofline_in(document).compute.empty()) << "neither triad nor a multiply-add an element";
  EXPECT_EQ(named(findings_in(document), "arithmetic_peak/fp32"), nullptr);
}

}  // namespace
}  // namespace bench::sweeps
