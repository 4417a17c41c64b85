// The batch sweep's claims about speed.
#include "batch_machine.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(BatchSpeedClaims, FindsTheModelBehindThePoints) {
  const ResultDocument document = document_of({{}}, 256);
  const Finding t0 = find(document, "t0");
  EXPECT_NEAR(*t0.value, 4e6, 0.2e6);
  EXPECT_LE(t0.ci95->low, 4e6);
  EXPECT_GE(t0.ci95->high, 4e6);
  EXPECT_EQ(t0.unit, "ns");
  EXPECT_EQ(t0.interval_kind, "fit");
  EXPECT_EQ(t0.evidence.size(), 9U);
  expect_words(t0.claim);

  const Finding t_inf = find(document, "t_inf");
  EXPECT_NEAR(*t_inf.value, 100, 1);
  EXPECT_EQ(t_inf.unit, "samples/s");
  EXPECT_EQ(t_inf.details["t0_ns"], std::llround(*t0.value));
  EXPECT_EQ(t_inf.details["t_inf_per_s"], *t_inf.value);
  expect_words(t_inf.claim);
}

// 100 MB of weights at 50 GB/s take 2 ms.
TEST(BatchSpeedClaims, SaysWhatTheFixedCostIsMadeOf) {
  expect_words(find(document_of({{.t0_ns = 2.2e6}}, 64), "t0").claim);
  expect_words(find(document_of({{.t0_ns = 20e6}}, 64), "t0").claim);
}

TEST(BatchSpeedClaims, AFixedCostNearZeroIsNotDistinguishable) {
  const Finding t0 = find(document_of({{.t0_ns = 0, .noise = 0.02}}, 256), "t0");
  expect_words(t0.claim);
  EXPECT_EQ(t0.details["distinguishable_from_zero"], false);
}

TEST(BatchSpeedClaims, NoNegativeFixedCostIsPrinted) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0.0}}, 8);
  for (Point& point : document.points) {  // a larger batch is slower than its share
    point.stats.median_ns *= 1 + 0.02 * point.items_per_step;
  }
  const Finding t0 = find(document, "t0");
  ASSERT_LT(*t0.value, 0);
  expect_words(t0.claim);
}

// Larger batches are slower than their share, so that the line's slope gives less than batch 1 does.
TEST(BatchSpeedClaims, StatesNoAsymptoticThroughputBelowAMeasuredPoint) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0.0}}, 4, 1LL << 30);
  for (std::size_t i = 1; i < 3; ++i) {
    document.points[i].stats.median_ns *= 1.2;
    document.points[i].stats.ci95_ns.reset();
  }
  const Finding t_inf = find(document, "t_inf");
  EXPECT_FALSE(t_inf.value);
  EXPECT_FALSE(t_inf.ci95);
  EXPECT_FALSE(t_inf.details.contains("t_inf_per_s"));
  EXPECT_EQ(t_inf.headline, 0);
  expect_words(t_inf.claim);
  EXPECT_EQ(t_inf.interval_kind, "none");

  document.points[1].stats.median_ns = 19e6;
  document.points[2].stats.median_ns = 37e6;
  EXPECT_TRUE(find(document, "t_inf").value);
}

TEST(BatchSpeedClaims, SaysWhereTheModelDoesNotHold) {
  ResultDocument document = document_of({{}}, 64);
  document.points[2].stats.median_ns *= 2;
  document.points[2].stats.ci95_ns = {document.points[2].stats.median_ns, document.points[2].stats.median_ns};
  expect_words(find(document, "t_inf").claim);
  EXPECT_EQ(find(document, "t_inf").details["model_holds"], false);
  expect_words(find(document, "t0").claim);  // it is said once
}

// Winograd's algorithm comes in at batch 4 and does 6 GFLOP a sample where others did 7; 100 GFLOP/s.
ResultDocument with_winograd(std::int64_t last) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0}}, last);
  for (Point& point : document.points) {
    point.work.flops = (point.items_per_step < 4 ? 7e9 : 6e9) * point.items_per_step;
    point.stats.median_ns = 2e6 + point.work.flops / 100;
    point.stats.ci95_ns = {0.999 * point.stats.median_ns, 1.001 * point.stats.median_ns};
  }
  return document;
}

TEST(BatchSpeedClaims, FitsOnlyBatchesThatDoTheSameWork) {
  const ResultDocument document = with_winograd(64);
  const Finding t0 = find(document, "t0");
  EXPECT_NEAR(*t0.value, 2e6, 1);
  EXPECT_EQ(t0.details["batches"], (Json{4, 8, 16, 32, 64}));
  expect_words(t0.claim);
  EXPECT_THAT(t0.evidence, Not(Contains("batch/tiny/infer/fp32/batch:2")));
  const Finding t_inf = find(document, "t_inf");
  EXPECT_NEAR(*t_inf.value, 100.0 / 6, 1e-6);
  expect_words(t_inf.claim);
}

// Batch 8 was measured, and its algorithm is another: it is named by what is left.
TEST(BatchSpeedClaims, NamesTheBatchesOfAFitWithAGap) {
  ResultDocument document = document_of({{}}, 64);
  document.points[3].work.flops *= 0.8;
  expect_words(find(document, "t0").claim);
}

TEST(BatchSpeedClaims, FewerThanThreeBatchesOfTheSameWorkHaveNoFit) {
  const ResultDocument document = with_winograd(8);
  for (const char* name : {"t0", "t_inf"}) {
    const Finding finding = find(document, name);
    EXPECT_FALSE(finding.value) << name;
    EXPECT_FALSE(finding.ci95) << name;
    expect_words(finding.claim);
  }
  ResultDocument two = document_of({{}}, 2);
  EXPECT_EQ(find(two, "t_inf").claim,
            "The asymptotic throughput needs at least 3 batch sizes in fp32; 2 were measured so far.");
}

// Neither T∞ of a fit with a gap nor any other lies below a measured batch, of its fit or not.
TEST(BatchSpeedClaims, StatesNoAsymptoticThroughputBelowABatchOutsideTheFit) {
  ResultDocument document = document_of({{}}, 64);
  document.points[3].work.flops *= 0.8;
  document.points[3].stats.median_ns = 70e6;  // 114 samples/s of batch 8; T∞ is 100
  document.points[3].stats.ci95_ns = {69e6, 71e6};
  EXPECT_FALSE(find(document, "t_inf").value);
  expect_words(find(document, "t_inf").claim);
}

// t0 of 4 ms against 10 ms a sample: 95 % of the best at 256 (99.8/s) is reached by batch 8 (95.2/s).
TEST(BatchSpeedClaims, PlacesTheCeilingAndRecommendsItNotTheLargest) {
  const ResultDocument document = document_of({{}}, 256, 12LL << 30);
  const Finding saturation = find(document, "ceiling_batch");
  EXPECT_EQ(saturation.value, 8);
  EXPECT_LE(saturation.ci95->low, 8);
  EXPECT_GE(saturation.ci95->high, 8);
  expect_words(saturation.claim);
  EXPECT_EQ(saturation.evidence.front(), "batch/tiny/infer/fp32/batch:8");

  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.value, 8);
  expect_words(recommendation.claim);
}

// Batch 4 does 100 to 110 samples/s, batch 8 does 100 to 112: at most 12 % more, though the medians differ by
// 1 %.
TEST(BatchSpeedClaims, TheGainOfLargerBatchesIsFromTheEndsOfTheIntervals) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0}}, 16);
  const auto set = [&](std::size_t place, double low, double median, double high) {
    Point& point = document.points[place];
    point.stats.median_ns = point.items_per_step * 1e9 / median;
    point.stats.ci95_ns = {point.items_per_step * 1e9 / high, point.items_per_step * 1e9 / low};
  };
  set(0, 50, 50, 50);
  set(1, 60, 60, 60);
  set(2, 100, 104, 110);
  set(3, 100, 105, 112);
  set(4, 90, 91, 92);
  expect_words(find(document, "recommendation").claim);
  set(4, 40, 91, 180);
  expect_words(find(document, "recommendation").claim);
  set(3, 80, 105, 130);
  expect_words(find(document, "recommendation").claim);
  set(3, 100, 105, 112);
  document.points[4].stats.ci95_ns.reset();
  expect_words(find(document, "recommendation").claim);
}

TEST(BatchSpeedClaims, TheBestIsNotComparedWithItself) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0}}, 8);
  document.points[0].stats.median_ns *= 0.9;
  document.points[0].stats.ci95_ns = {document.points[0].stats.median_ns, document.points[0].stats.median_ns};
  EXPECT_EQ(find(document, "ceiling_batch").claim,
            "fp32 saturates at batch 1, the smallest measured: 111 samples/s, the best measured.");
}

TEST(BatchSpeedClaims, TheCeilingMayLieBeyondTheLargestBatch) {
  const ResultDocument document = document_of({{.t0_ns = 400e6}}, 16);
  const Finding saturation = find(document, "ceiling_batch");
  EXPECT_EQ(saturation.value, 16);
  EXPECT_EQ(saturation.details["may_lie_beyond"], true);
  expect_words(saturation.claim);
  expect_words(find(document, "recommendation").claim);
}

// At batch 1, 4 GFLOP at 500 GFLOP/s are 8 ms and 150 MB at 50 GB/s are 3 ms.
TEST(BatchSpeedClaims, NamesTheLimitBelowTheCeiling) {
  const Finding compute = find(document_of({{}}, 8), "limit_below_ceiling");  // a step of 14 ms
  EXPECT_EQ(compute.details["limit"], "compute");
  EXPECT_NEAR(*compute.value, 8.0 / 14, 0.01);
  expect_words(compute.claim);

  const Finding overhead = find(document_of({{.t0_ns = 30e6}}, 8), "limit_below_ceiling");  // 40 ms
  EXPECT_EQ(overhead.details["limit"], "implementation") << "no launch was measured";
  expect_words(overhead.claim);

  ResultDocument contended = document_of({{.t0_ns = 30e6}}, 8);
  flag(contended, "", {"throttled:cpu_contention"});
  const Finding unexplained = find(contended, "limit_below_ceiling");
  EXPECT_FALSE(unexplained.value);
  EXPECT_EQ(unexplained.details["limit"], "unknown");
  expect_words(unexplained.claim);

  ResultDocument slow_memory = document_of({{}}, 8);
  slow_memory.context.peaks[Dtype::fp32].bytes_per_s = 12e9;  // 12.5 ms
  EXPECT_EQ(find(slow_memory, "limit_below_ceiling").details["limit"], "memory");

  ResultDocument unknown = document_of({{}}, 8);
  unknown.context.peaks.clear();
  EXPECT_FALSE(find(unknown, "limit_below_ceiling").value);
  expect_words(find(unknown, "limit_below_ceiling").claim);
}

TEST(BatchSpeedClaims, NoisyPointsPlaceNoCeiling) {
  const ResultDocument document = document_of({{.noise = 0.2}}, 64);
  const Finding saturation = find(document, "ceiling_batch");
  EXPECT_FALSE(saturation.value);
  EXPECT_FALSE(saturation.ci95);
  expect_words(saturation.claim);
}

TEST(BatchSpeedClaims, PointsAboveThePeakProveNothing) {
  ResultDocument document = document_of({{}}, 256);
  Point& wrong = document.points[0];
  wrong.validity.flags = {"noisy", "above_peak"};
  wrong.stats.median_ns = 1;
  wrong.stats.ci95_ns = {1, 1};
  EXPECT_EQ(find(document, "ceiling_batch").value, 8);
  EXPECT_NEAR(*find(document, "t_inf").value, 100, 1);
  EXPECT_THAT(find(document, "t0").evidence, Not(Contains(wrong.name)));
  const Finding left_out = find(document, "left_out");
  EXPECT_EQ(left_out.value, 1);
  EXPECT_THAT(left_out.evidence, ElementsAre(wrong.name));
  expect_words(left_out.claim);
}

TEST(BatchSpeedClaims, FewRoundsStayOutOfSpeedClaimsWhereOthersRemain) {
  ResultDocument document = document_of({{}}, 256);
  Point& odd = document.points[0];
  odd.validity.flags = {"few_rounds"};
  odd.stats.median_ns *= 3;
  odd.stats.ci95_ns = {odd.stats.median_ns, odd.stats.median_ns};
  EXPECT_NEAR(*find(document, "t0").value, 4e6, 0.4e6);
  EXPECT_THAT(find(document, "t0").evidence, Not(Contains(odd.name)));
  EXPECT_THAT(find(document, "memory_line").evidence, Contains(odd.name));
}

// Once: the claims themselves carry no caveat.
TEST(BatchSpeedClaims, OtherProcessesAreAFindingOfTheirOwn) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 220}}, 64);
  flag(document, "bf16/batch:", {"throttled:cpu_contention"});
  for (const Finding& finding : findings_of(document)) {
    if (finding.name != "conditions") {
      expect_words(finding.claim);
    }
  }
  const Finding conditions = find(document, "conditions");
  EXPECT_EQ(conditions.value, 7);
  EXPECT_EQ(conditions.evidence.size(), 7U);
  expect_words(conditions.claim);

  // Advice that was followed already is left out.
  for (const std::string policy : {"passive", "PASSIVE"}) {
    document.context.device.details["omp_wait_policy"] = policy;
    expect_words(find(document, "conditions").claim);
  }
  document.context.device.details["omp_wait_policy"] = "active";
  expect_words(find(document, "conditions").claim);

  flag(document, "", {"throttled:sw_power_cap"});
  EXPECT_THAT(names_of(findings_of(document)), Not(Contains("conditions")));
}

TEST(BatchSpeedClaims, AWideIntervalProvesNoProportion) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0.0}}, 8);
  document.points[1].stats.median_ns *= 1.2;
  document.points[2].stats.median_ns *= 0.85;
  const Finding t0 = find(document, "t0");
  EXPECT_LT(t0.ci95->low, 0);
  expect_words(t0.claim);
}

TEST(BatchSpeedClaims, OnlyPointsAboveThePeakLeaveNothing) {
  ResultDocument document = document_of({{}}, 1);
  document.points[0].validity.flags = {"above_peak"};
  EXPECT_FALSE(find(document, "limit_below_ceiling").value);
  EXPECT_EQ(find(document, "left_out").value, 1);
}

}  // namespace
}  // namespace bench
