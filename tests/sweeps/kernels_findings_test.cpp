// The findings and tables made of the roofline, on invented points.
#include <gmock/gmock.h>

#include <map>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/kernels_example.h"

namespace bench::sweeps {
namespace {

using kernels_example::example;
using kernels_example::findings_in;
using kernels_example::named;
using kernels_example::operation;
using kernels_example::point;
using kernels_example::stream;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

std::vector<TextTable> tables_of(const ResultDocument& document) {
  const bench::testing::ManualClock clock;
  const SweepRequest request(clock);
  bench::testing::FakeDevice device({Dtype::fp32});
  return registry<SweepType>().find("kernels")->make(request, device)->tables(document);
}

TEST(KernelsFindings, WithoutStreamKernelsThereIsNoRoofline) {
  ResultDocument document = example();
  document.points.erase(document.points.begin(), document.points.begin() + 4);
  const std::vector<Finding> findings = findings_in(document);
  expect_words(named(findings, "memory_bandwidth")->claim);
  EXPECT_DOUBLE_EQ(*named(findings, "arithmetic_peak/fp32")->value, 200e9);
  EXPECT_EQ(named(findings, "roofline_share/gemm/fp32"), nullptr);
}

// The matrix product that would set the roof in bf16 had no time; a smaller one did.
TEST(KernelsFindings, SayWhichPointsOfTheRoofHadNoTime) {
  ResultDocument document = example();
  std::set<std::string> references{document.points[0].name, document.points[1].name, document.points[4].name,
                                   "kernels/gemm/largest", "kernels/gemm/huge"};
  document.unmeasured = {{"kernels/gemm/huge", {}, "unsupported", "no such dtype"},
                         {"kernels/gemm/middle", {}, "skipped", "no time"}};
  EXPECT_EQ(named(findings_in(document, references), "roof_incomplete"), nullptr);
  document.unmeasured.push_back({"kernels/gemm/largest", {}, "skipped", "no time"});
  const std::vector<Finding> findings = findings_in(document, references);
  const Finding* found = named(findings, "roof_incomplete");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value, 1);
  expect_words(found->claim);
  EXPECT_EQ(found->evidence.size(), 3U) << "triad, copy and the product in fp32";
}

// They would only be compared with themselves.
TEST(KernelsFindings, ReferencePointsAloneMakeNoRoofline) {
  ResultDocument document = example();
  std::set<std::string> references;
  for (const Point& point : document.points) {
    references.insert(point.name);
  }
  EXPECT_TRUE(named(findings_in(document, references), "memory_bandwidth")->value)
      << "all that was asked for";
  document.unmeasured = {{"kernels/gemm/small", {}, "skipped", "no time"}};
  EXPECT_TRUE(named(findings_in(document), "memory_bandwidth")->value);
  const std::vector<Finding> findings = findings_in(document, references);
  EXPECT_EQ(named(findings, "memory_bandwidth")->claim,
            "No roofline: only the points that set it were timed [larger --time-budget].");
  EXPECT_FALSE(named(findings, "memory_bandwidth")->value);
  for (const Finding& finding : findings) {
    EXPECT_THAT(finding.name, Not(AnyOf(StartsWith("arithmetic_peak"), StartsWith("roofline_share"))));
  }
  EXPECT_FALSE(roofline_in(document, references).memory);
  EXPECT_THAT(roofline_in(document, references).compute, IsEmpty());
}

TEST(KernelsFindings, ASkippedStreamKernelIsNotMistakenForNone) {
  ResultDocument document = example();
  std::erase_if(document.points, [](const auto& one) { return one.params.at("workload") == "stream"; });
  document.unmeasured = {{"kernels/stream/triad/fp32/cold",
                          {{"workload", "stream"}, {"mode", "triad"}, {"dtype", "fp32"}, {"caches", "cold"}},
                          "skipped",
                          "no time"}};
  const std::vector<Finding> findings = findings_in(document);
  expect_words(named(findings, "memory_bandwidth")->claim);
}

// Each reason is the true one: small cold arrays were measured, the roof's own points were not.
TEST(KernelsFindings, SayWhyColdArraysShowNoMemory) {
  ResultDocument document = example();
  document.context.caches[1].size = 60'000'000;
  const std::string largest = "kernels/stream/triad/fp32/cold/largest";
  std::set<std::string> references;
  const auto claim = [&] { return named(findings_in(document, references), "memory_bandwidth")->claim; };
  const std::string small =
      "No roofline: cold arrays of 95.4 MiB are below twice the 57.2 MiB cache [give more --elements].";
  EXPECT_EQ(claim(), small);
  document.unmeasured = {{"kernels/stream/read/fp32/cold/other", {}, "skipped", "no time"}};
  EXPECT_EQ(claim(), small) << "another point would not have shown it";
  references = {largest};
  expect_words(claim());  // the run ended before
  document.unmeasured.push_back({largest, {}, "skipped", "no time"});
  EXPECT_EQ(claim(), "No roofline: the largest stream kernels were not timed [larger --time-budget].");
  document.unmeasured.back().status = "oom";
  document.unmeasured.back().reason = "more than the memory cap";
  EXPECT_EQ(
      claim(),
      "No roofline: the largest stream kernels do not fit: more than the memory cap [larger --memory-cap].");
  document.unmeasured.clear();
  references.clear();
  document.points.push_back(stream("copy", "cold", 1.5e8, 1e6, "fast"));
  document.points.back().validity.flags = {"above_peak"};
  expect_words(claim());
  std::erase_if(document.points, [](const auto& one) { return one.params.at("caches") == "cold"; });
  expect_words(claim());
}

TEST(KernelsFindings, GiveTheReasonOfStreamKernelsThatWereRefused) {
  ResultDocument document = example();
  document.points.clear();
  EXPECT_TRUE(findings_in(document).empty());
  document.unmeasured = {{"kernels/gemm/fp16", {{"workload", "gemm"}}, "unsupported", "no fp16 in gemm"},
                         {"kernels/stream/triad/fp16/cold",
                          {{"workload", "stream"}, {"mode", "triad"}, {"dtype", "fp16"}, {"caches", "cold"}},
                          "unsupported",
                          "no fp16 here"}};
  const std::vector<Finding> findings = findings_in(document);
  ASSERT_NE(named(findings, "memory_bandwidth"), nullptr);
  expect_words(named(findings, "memory_bandwidth")->claim);
}

TEST(KernelsFindings, SayWhatWasReached) {
  const std::vector<Finding> findings = findings_in(example());
  ASSERT_NE(named(findings, "memory_bandwidth"), nullptr);
  expect_words(named(findings, "memory_bandwidth")->claim);
  expect_words(named(findings, "cache_bandwidth")->claim);
  EXPECT_DOUBLE_EQ(*named(findings, "arithmetic_peak/fp32")->value, 200e9);
  EXPECT_DOUBLE_EQ(*named(findings, "ridge/fp32")->value, 20);
  const Finding* share = named(findings, "roofline_share/conv2d/fp32");
  ASSERT_NE(share, nullptr);
  EXPECT_DOUBLE_EQ(*share->value, 0.5);
  EXPECT_EQ(share->claim,
            "conv2d/fp32 reaches 50.0 ± 1.0 % to 50.0 ± 1.0 % of its roofline, least at a (limit: memory).");
  const Finding* cold = named(findings, "cold_caches/gemm/fp32");
  ASSERT_NE(cold, nullptr);
  EXPECT_DOUBLE_EQ(*cold->value, 1.6);
  expect_words(cold->claim);
  EXPECT_EQ(named(findings, "conditions"), nullptr);
}

TEST(KernelsFindings, AnIntervalIsInOrder) {
  for (const Finding& finding : findings_in(example())) {
    if (finding.ci95) {
      EXPECT_LE(finding.ci95->low, *finding.value) << finding.name;
      EXPECT_GE(finding.ci95->high, *finding.value) << finding.name;
    }
  }
}

// ±1 % of every time: of a ratio of two about ±2 %.
TEST(KernelsFindings, EachComparedNumberHasAnInterval) {
  const std::vector<Finding> findings = findings_in(example());
  for (const char* name :
       {"memory_bandwidth", "cache_bandwidth", "arithmetic_peak/fp32", "ridge/fp32",
        "roofline_share/gemm/fp32", "roofline_share/conv2d/fp32", "cold_caches/gemm/fp32"}) {
    SCOPED_TRACE(name);
    ASSERT_NE(named(findings, name), nullptr);
    ASSERT_TRUE(named(findings, name)->ci95);
  }
  EXPECT_NEAR(named(findings, "cold_caches/gemm/fp32")->ci95->low, 1.6 * 0.99 / 1.01, 1e-9);
  EXPECT_NEAR(named(findings, "cold_caches/gemm/fp32")->ci95->high, 1.6 * 1.01 / 0.99, 1e-9);
  EXPECT_NEAR(named(findings, "ridge/fp32")->ci95->low, 20 * 0.99 / 1.01, 1e-9);
  // The worst convolution reaches half of memory's 10 GB/s; the limit's own interval counts as well.
  EXPECT_NEAR(named(findings, "roofline_share/conv2d/fp32")->ci95->high, 0.5 * 1.01 / 0.99, 1e-9);
}

TEST(KernelsFindings, OneSampleHasNoInterval) {
  ResultDocument document = example();
  for (Point& point : document.points) {
    point.stats.ci95_ns = {point.stats.median_ns, point.stats.median_ns};
  }
  const std::vector<Finding> findings = findings_in(document);
  EXPECT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.ci95) << finding.name;
  }
}

TEST(KernelsFindings, TensorCoresStandBesideTheOrdinaryUnits) {
  ResultDocument document;
  const auto fma = [&](const std::string& mode, double flops, const std::string& rest,
                       const std::vector<std::string>& flags = {}) {
    document.points.push_back(point({.workload = "fma",
                                     .caches = "hot",
                                     .flops = flops,
                                     .bytes = 1e4,
                                     .ns = 1000,
                                     .mode = mode,
                                     .dtype = "fp16",
                                     .rest = rest,
                                     .flags = flags}));
  };
  fma("forward", 2e6, "steps:1024");
  EXPECT_EQ(named(findings_in(document), "tensor_cores/fp16"), nullptr);
  fma("forward", 1e6, "steps:64");
  fma("tensor-cores", 9e6, "steps:64");
  fma("tensor-cores", 16e6, "steps:1024");
  fma("tensor-cores", 99e6, "steps:256", {"above_peak"});
  const std::vector<Finding> findings = findings_in(document);
  const Finding* cores = named(findings, "tensor_cores/fp16");
  ASSERT_NE(cores, nullptr);
  EXPECT_DOUBLE_EQ(*cores->value, 8);
  ASSERT_TRUE(cores->ci95);
  EXPECT_NEAR(cores->ci95->low, 8 * 0.99 / 1.01, 1e-9);
  expect_words(cores->claim);
  document.context.device.details["compute_capability"] = "9.0";
  expect_words(named(findings_in(document), "tensor_cores/fp16")->claim);
}

// The share of a ceiling that its own point reaches is all of it, and says nothing.
TEST(KernelsFindings, ThePointThatIsTheCeilingIsSaidToBeIt) {
  ResultDocument document = example();
  const auto claim = [&] { return named(findings_in(document), "roofline_share/gemm/fp32")->claim; };
  EXPECT_EQ(claim(), "gemm/fp32 sets the peak of arithmetic.");
  document.points.push_back(operation("gemm", "hot", 5e9, 5e7, "n:0"));
  EXPECT_EQ(claim(),
            "gemm/fp32 sets the peak of arithmetic, and reaches at least 50.0 ± 1.0 % of its roofline, at "
            "n:0 (limit: arithmetic).");
  // Another operation has its share of that ceiling.
  document.points.push_back(operation("fma", "hot", 5e9, 5e7, "f"));
  EXPECT_EQ(named(findings_in(document), "roofline_share/fma/fp32")->claim,
            "fma/fp32 reaches 50.0 ± 1.0 % of its roofline, at f (limit: arithmetic).");
}

// A point of the same operation whose data stayed in a cache lies above the roof.
TEST(KernelsFindings, TheCeilingMayReachTheLeastOfItsOperation) {
  ResultDocument document = example();
  document.points.push_back(
      point({.workload = "gemm", .caches = "hot", .flops = 1.5e9, .bytes = 1.5e8, .ns = 1e7, .rest = "c"}));
  EXPECT_EQ(
      named(findings_in(document), "roofline_share/gemm/fp32")->claim,
      "gemm/fp32 sets the peak of arithmetic, and reaches at most 150 ± 3 % of its roofline, at c (limit: "
      "memory); above 100 %, its data stayed in a cache.");
}

// One claim of both would say no more than that they differ.
TEST(KernelsFindings, SharesOfTheRoofDoNotMixTensorCoresAndOrdinaryUnits) {
  ResultDocument document = example();
  for (const std::string mode : {"forward", "tensor-cores"}) {
    document.points.push_back(point({.workload = "fma",
                                     .caches = "hot",
                                     .flops = mode == "forward" ? 5e9 : 1e10,
                                     .bytes = 1e8,
                                     .ns = 5e7,
                                     .mode = mode,
                                     .rest = mode}));
  }
  const std::vector<Finding> findings = findings_in(document);
  ASSERT_NE(named(findings, "roofline_share/fma/fp32"), nullptr);
  ASSERT_NE(named(findings, "roofline_share/fma/tensor-cores/fp32"), nullptr);
  EXPECT_DOUBLE_EQ(*named(findings, "roofline_share/fma/fp32")->value, 0.5);
  EXPECT_DOUBLE_EQ(*named(findings, "roofline_share/fma/tensor-cores/fp32")->value, 1);
}

// An empty kernel takes 7.5 µs. One of 10 µs waits for its launch; one of 100 µs is slow by itself.
TEST(KernelsFindings, ASlowKernelIsNotReportedAsItsLaunch) {
  ResultDocument document = example();
  const auto claim = [&] { return named(findings_in(document), "roofline_share/softmax/fp32")->claim; };
  document.points.push_back(operation("softmax", "hot", 1e4, 10'000, "n:1"));
  document.points.back().work.sample_bytes = 1e3;
  expect_words(claim());  // no launch was measured
  document.points.push_back(
      point({.workload = "launch", .caches = "hot", .bytes = 4, .ns = 7500, .rest = "n:1"}));
  expect_words(claim());
  Point& slow = document.points[document.points.size() - 2];
  slow.stats.median_ns = 100'000;
  slow.stats.ci95_ns = {99'000, 101'000};
  expect_words(claim());
  slow.stats.median_ns = 10'000;
  slow.stats.ci95_ns = {4'000, 30'000};
  expect_words(claim());  // so noisy that it may be either
  slow.stats.ci95_ns = {9'900, 10'100};
  slow.work.launches = 0;
  expect_words(claim());  // its launch is not in its time
}

TEST(KernelsFindings, AGainWithinTheNoiseIsNone) {
  ResultDocument document;
  document.points = {operation("gemm", "hot", 1e6, 1000, "n"), operation("gemm", "cold", 1e6, 1010, "n")};
  EXPECT_EQ(named(findings_in(document), "cold_caches/gemm/fp32"), nullptr);
}

TEST(KernelsFindings, ALaunchIsTimedWhereTheHostWaitsForEach) {
  ResultDocument document = example();
  EXPECT_EQ(named(findings_in(document), "launch_round_trip"), nullptr);
  document.points.push_back(point(
      {.workload = "launch", .caches = "hot", .bytes = 64, .ns = 40'000, .rest = "n:16", .samples = 16}));
  EXPECT_EQ(named(findings_in(document), "launch_round_trip"), nullptr);
  document.points.push_back(
      point({.workload = "launch", .caches = "hot", .bytes = 4, .ns = 7500, .rest = "n:1"}));
  const std::vector<Finding> findings = findings_in(document);
  const Finding* launch = named(findings, "launch_round_trip");
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(*launch->value, 7500);
  EXPECT_EQ(launch->unit, "ns");
  EXPECT_THAT(launch->evidence, ElementsAre("kernels/launch/forward/fp32/hot/n:1"));
  expect_words(launch->claim);
  EXPECT_EQ(named(findings, "roofline_share/launch/fp32"), nullptr) << "it computes nothing";
}

// The operation that falls shortest first, then the roofline; at most five, and none that only says what is
// missing.
TEST(KernelsFindings, TheFirstPrintedAnswersTheQuestion) {
  ResultDocument document = example();
  document.points.push_back(point({.workload = "gemm",
                                   .caches = "hot",
                                   .flops = 1e10,
                                   .bytes = 1e8,
                                   .ns = 2.5e7,
                                   .dtype = "bf16",
                                   .rest = "n"}));
  document.points.push_back(
      point({.workload = "launch", .caches = "hot", .bytes = 4, .ns = 7500, .rest = "n:1"}));
  const auto printed = [&] {
    std::map<int, std::string> names;
    for (const Finding& finding : findings_in(document)) {
      if (finding.headline > 0) {
        EXPECT_TRUE(names.emplace(finding.headline, finding.name).second) << finding.name;
        EXPECT_TRUE(finding.value) << finding.name;
      }
    }
    return names;
  };
  EXPECT_THAT(printed(), ElementsAre(Pair(1, "roofline_share/conv2d/fp32"), Pair(2, "memory_bandwidth"),
                                     Pair(3, "arithmetic_peak/bf16"), Pair(4, "arithmetic_peak/fp32"),
                                     Pair(5, "launch_round_trip")));
  document.points.erase(document.points.begin(),
                        document.points.begin() + 4);  // the stream kernels
  EXPECT_THAT(printed(), ElementsAre(Pair(1, "arithmetic_peak/bf16"), Pair(2, "arithmetic_peak/fp32"),
                                     Pair(3, "launch_round_trip")));
}

TEST(KernelsFindings, PointsThatOtherProcessesDisturbedAreCounted) {
  ResultDocument document = example();
  document.points[0].validity.flags = {"noisy"};
  EXPECT_EQ(named(findings_in(document), "conditions"), nullptr) << "the warning line says it";
  document.points[0].validity.flags = {"throttled:cpu_contention"};
  expect_words(named(findings_in(document), "conditions")->claim);
}

TEST(KernelsFindings, NothingMeasuredIsNothingClaimed) {
  EXPECT_THAT(findings_in({}), IsEmpty());
  EXPECT_THAT(tables_of({}), IsEmpty());
  ResultDocument odd;
  odd.points.emplace_back();
  EXPECT_THAT(findings_in(odd), IsEmpty());
}

TEST(KernelsTables, WithoutARooflineGiveTheReasonInsteadOfAColumn) {
  ResultDocument document = example();
  std::erase_if(document.points, [](const auto& one) { return one.params.at("workload") == "stream"; });
  document.findings = findings_in(document);
  const std::vector<TextTable> tables = tables_of(document);
  ASSERT_EQ(tables.size(), 1U);
  Page page;
  page.table(tables[0]);
  EXPECT_THAT(std::get<TextTable>(page.blocks.at(0)).rows[0], Not(::testing::Contains("of the roofline")));
  expect_words(tables[0].title);
}

TEST(KernelsTables, StandInThePlaceOfThePoints) {
  const std::vector<TextTable> tables = tables_of(example());
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_TRUE(tables[0].lists_points);
  EXPECT_EQ(tables[0].rows.size(), 9U);
  for (const auto& row : tables[0].rows) {
    EXPECT_EQ(row.size(), tables[0].rows[0].size());
  }
}

}  // namespace
}  // namespace bench::sweeps
