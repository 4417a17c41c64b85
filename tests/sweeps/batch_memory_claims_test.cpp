// The batch sweep's claims about memory.
#include "batch_machine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sweeps/batch/findings.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

TEST(BatchMemoryClaims, DrawsTheMemoryLine) {
  const ResultDocument document = document_of({{}}, 64, 1LL << 30);
  const Finding line = find(document, "memory_line");
  EXPECT_NEAR(*line.value, 10 << 20, 1);
  EXPECT_EQ(line.unit, "bytes/sample");
  EXPECT_EQ(line.details["fixed_bytes"], 100 << 20);
  EXPECT_EQ(line.details["slope_bytes"], 10 << 20);
  EXPECT_TRUE(line.details["steps"].empty());
  expect_words(line.claim);
  EXPECT_EQ(find(document, "largest_batch").value, 92);  // (1024 - 100) / 10
}

TEST(BatchMemoryClaims, ShowsAStepInMemory) {
  ResultDocument document = document_of({{}}, 64);
  for (Point& point : document.points) {
    if (point.params["batch"] >= 16) {
      point.memory.peak_measured += 64 << 20;
    }
  }
  const Finding line = find(document, "memory_line");
  ASSERT_EQ(line.details["steps"].size(), 1U);
  EXPECT_EQ(line.details["steps"][0]["batch"], 16);
  EXPECT_NEAR(line.details["steps"][0]["bytes"].get<double>(), 64 << 20, 2);
  expect_words(line.claim);
}

TEST(BatchMemoryClaims, TheLargestBatchNamesWhatRanOutOfMemory) {
  ResultDocument document = document_of({{}}, 64, 1LL << 30);
  for (const std::int64_t batch : {256, 128}) {
    document.unmeasured.push_back({"", {{"batch", batch}, {"dtype", "fp32"}}, "oom", ""});
  }
  document.unmeasured.push_back({"", {{"batch", 1}, {"dtype", "fp32"}}, "skipped", ""});
  const Finding largest = find(document, "largest_batch");
  EXPECT_EQ(largest.details["smallest_oom"], 128);
  expect_words(largest.claim);
}

// 18 GiB hold 1833 samples of 10 MiB after 100 MiB.
TEST(BatchMemoryClaims, ABatchFarBeyondThoseMeasuredIsRounded) {
  const Finding largest = find(document_of({{}}, 16, std::int64_t{18} << 30), "largest_batch");
  EXPECT_EQ(largest.value, 1833);
  expect_words(largest.claim);
}

// The only point may be left out, being above the device's peak.
TEST(BatchMemoryClaims, ThePlannedLargestBatchNeedsNoMeasuredOne) {
  sweeps::BatchSeries series;
  series.label = "fp32";
  series.cap_bytes = 1LL << 30;
  series.take_plan(sweeps::LargestByPlan{.batch = 92});
  EXPECT_EQ(sweeps::claim_largest_batch(series).claim,
            "Batch 92 of fp32 would just fit in 1.00 GiB (calculated, not run).");
}

TEST(BatchMemoryClaims, WithoutACapThereIsNoLargestBatch) {
  const Finding largest = find(document_of({{}}, 64), "largest_batch");
  EXPECT_FALSE(largest.value);
  expect_words(largest.claim);
}

TEST(BatchMemoryClaims, ClassifiesTheHeadroom) {
  const auto claim_at = [](double share) {
    const double needed = 180 << 20;  // at the saturation, batch 8
    return find(document_of({{}}, 256, std::llround(needed / share)), "recommendation").details["headroom"];
  };
  EXPECT_EQ(claim_at(0.89), "safe");
  EXPECT_EQ(claim_at(0.92), "tight");
  EXPECT_EQ(claim_at(0.97), "danger");
}

TEST(BatchMemoryClaims, TheLargestMeasuredIsNotOneOfFewRounds) {
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 32);
  flag(document, "batch:32", {"few_rounds"});
  expect_words(find(document, "ceiling_batch").claim);
}

// As a library does that takes Winograd's algorithm at some batches, with weights transformed for it.
ResultDocument with_changing_weights(std::int64_t sample_bytes) {
  ResultDocument document =
      document_of({{.fixed_bytes = 0, .sample_bytes = sample_bytes}}, 16, std::int64_t{18} << 30);
  const std::vector<std::int64_t> weights_mib = {45, 49, 45, 45, 45};
  for (std::size_t i = 0; i < weights_mib.size(); ++i) {
    const std::int64_t weights = weights_mib[i] << 20;
    document.points[i].memory.by_category[MemoryCategory::weights] = weights;
    document.points[i].memory.peak_measured += weights;
  }
  return document;
}

TEST(BatchMemoryClaims, WeightsThatChangeWithTheBatchDoNotBendTheMemoryLine) {
  const ResultDocument document = with_changing_weights(300 << 10);
  const Finding line = find(document, "memory_line");
  EXPECT_NEAR(*line.value, 300 << 10, 1);
  EXPECT_EQ(line.details["fixed_bytes"], 45 << 20);
  EXPECT_TRUE(line.details["steps"].empty());
  ASSERT_EQ(line.details["weight_steps"].size(), 2U);
  EXPECT_EQ(line.details["weight_steps"][0]["batch"], 2);
  EXPECT_EQ(line.details["segments"][1]["fixed_bytes"], 49 << 20);
  expect_words(line.claim);
  EXPECT_EQ(find(document, "largest_batch").value, ((std::int64_t{18} << 30) - (45 << 20)) / (300 << 10));
}

TEST(BatchMemoryClaims, MemoryThatDoesNotGrowProvesNoLargestBatch) {
  const ResultDocument document = with_changing_weights(0);
  const Finding largest = find(document, "largest_batch");
  EXPECT_FALSE(largest.value);
  expect_words(largest.claim);
  EXPECT_FALSE(find(document, "memory_line").value);
}

}  // namespace
}  // namespace bench
