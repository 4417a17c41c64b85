// Dtypes compared, and what the batch sweep recommends.
#include "batch_machine.h"

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::Contains;

TEST(BatchAdvice, ComparesDtypes) {
  const Machine bf16{
      .dtype = "bf16", .t0_ns = 2e6, .per_s = 220, .fixed_bytes = 50 << 20, .sample_bytes = 5 << 20};
  const ResultDocument document = document_of({{}, bf16}, 256);
  const Finding speedup = find(document, "speedup_bf16");
  EXPECT_NEAR(*speedup.value, 2.2, 0.05);
  EXPECT_LT(speedup.ci95->low, *speedup.value);
  EXPECT_GT(speedup.ci95->high, *speedup.value);
  expect_words(speedup.claim);
  EXPECT_THAT(speedup.evidence, Contains("batch/tiny/infer/bf16/batch:16"));

  const Finding memory = find(document, "memory_ratio_bf16");
  EXPECT_DOUBLE_EQ(*memory.value, 0.5);
  expect_words(memory.claim);

  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["dtype"], "bf16");
  expect_words(recommendation.claim);
}

TEST(BatchAdvice, EqualSpeedsShowNoDifference) {
  const ResultDocument document = document_of({{.noise = 0.02}, {.dtype = "bf16", .noise = 0.02}}, 64);
  expect_words(find(document, "speedup_bf16").claim);
}

TEST(BatchAdvice, AGainWithinTheNoiseIsNoReasonToLeaveFp32) {
  const ResultDocument document =
      document_of({{.noise = 0.02}, {.dtype = "bf16", .per_s = 101, .noise = 0.02}}, 64);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchAdvice, SaysWhereMemoryEndsBeforeTheCeiling) {
  // 100 MiB and 10 MiB a sample: 16 need 260 MiB, and 300 MiB hold 20.
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 16, 300 << 20);
  expect_words(find(document, "recommendation").claim);
  document.unmeasured.push_back({"", {{"batch", 32}, {"dtype", "fp32"}}, "oom", ""});
  expect_words(find(document, "recommendation").claim);
}

TEST(BatchAdvice, DtypesWithoutASharedBatchCannotBeCompared) {
  ResultDocument document = document_of({{}, {.dtype = "bf16"}}, 1);
  document.points[1].params["batch"] = 2;
  EXPECT_FALSE(find(document, "speedup_bf16").value);
  EXPECT_FALSE(find(document, "memory_ratio_bf16").value);
}

TEST(BatchAdvice, ADtypeThatIsSurelyFasterWinsWithoutACeiling) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .t0_ns = 2e6, .per_s = 232}}, 64);
  blur(document, "bf16", 0.1);
  ASSERT_FALSE(find(document, "ceiling_batch/bf16").value);
  const Finding speedup = find(document, "speedup_bf16");
  EXPECT_GT(speedup.ci95->low, 1);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["dtype"], "bf16");
  EXPECT_EQ(recommendation.details["ceiling_placed"], false);
  EXPECT_EQ(recommendation.value, 8) << "the smallest whose median reaches 95 % of the best";
  expect_words(recommendation.claim);
}

TEST(BatchAdvice, ADtypeWithoutACeilingThatIsNotSurelyFasterDoesNotWin) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 104}}, 64);
  blur(document, "bf16", 0.1);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

// A saturation is up to 5 % below the best, which the other dtype's best surely passes though both are as
// fast.
TEST(BatchAdvice, ACeilingBelowTheBestIsNoReasonToLeaveFp32) {
  const ResultDocument document = document_of({{.noise = 0.002}, {.dtype = "bf16", .noise = 0.002}}, 256);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchAdvice, FewRoundsProveNoRatioButAnswer) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 84'000}}, 16);
  flag(document, "", {"few_rounds", "throttled:cpu_contention"});
  EXPECT_FALSE(find(document, "speedup_bf16").value);
  EXPECT_FALSE(find(document, "speedup_bf16").ci95);
  expect_words(find(document, "speedup_bf16").claim);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_TRUE(recommendation.value);
  expect_words(recommendation.claim);  // the warning line says it
  EXPECT_TRUE(find(document, "memory_line/fp32").value);
}

TEST(BatchAdvice, AWideRatioIsNotSignificant) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 120}}, 4);
  blur(document, "bf16", 0.5);
  expect_words(find(document, "speedup_bf16").claim);
}

// On a busy machine no batch is surely within 95 % of the best, and every one may be.
TEST(BatchAdvice, ANoisyRunAnswersWithWhatItKnows) {
  const ResultDocument document = document_of({{.t0_ns = 1e6, .noise = 0.2}}, 32);
  ASSERT_FALSE(find(document, "ceiling_batch").value);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_FALSE(recommendation.value) << "the fastest is no advice";
  EXPECT_EQ(recommendation.details["state"], "undecided");
  expect_words(recommendation.claim);
}

TEST(BatchAdvice, AFlatCurveIsNamed) {
  const ResultDocument flat = document_of({{.t0_ns = 0, .per_s = 17, .noise = 0.02}}, 32);
  const Finding recommendation = find(flat, "recommendation");
  EXPECT_EQ(recommendation.value, 1);
  EXPECT_EQ(recommendation.details["state"], "flat");
  expect_words(recommendation.claim);
  EXPECT_EQ(find(flat, "ceiling_batch").value, 1);
  expect_words(find(flat, "ceiling_batch").claim);
  ResultDocument falling = document_of({{.t0_ns = 0, .per_s = 17}}, 32);
  for (const std::size_t place : {4, 5}) {  // larger batches leave the cache
    Point& point = falling.points[place];
    point.stats.median_ns *= 1.4;
    point.stats.ci95_ns = {0.99 * point.stats.median_ns, 1.01 * point.stats.median_ns};
  }
  expect_words(find(falling, "recommendation").claim);
}

TEST(BatchAdvice, ADifferenceWithinTheNoiseIsNotCalledNone) {
  ResultDocument document = document_of({{.t0_ns = 0, .per_s = 17}}, 2);
  document.points[1].stats.median_ns *= 0.88;
  blur(document, "fp32", 0.08);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["state"], "flat");
  expect_words(recommendation.claim);
}

TEST(BatchAdvice, WhereNothingCanBeToldOtherProcessesAreTheReason) {
  ResultDocument document = document_of({{.t0_ns = 1e6}}, 32);
  blur(document, "fp32", 0.3);
  expect_words(find(document, "recommendation").claim);
  flag(document, "batch:4", {"throttled:cpu_contention"});
  expect_words(find(document, "recommendation").claim);
}

// The bracket names what would give a second batch: the time budget only where it ended.
TEST(BatchAdvice, OneBatchIsDescribed) {
  ResultDocument document = document_of({{}}, 1);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_FALSE(recommendation.value);
  EXPECT_EQ(recommendation.headline, 1);
  expect_words(recommendation.claim);
  const auto leave_out = [&](const char* status, const char* reason) {
    document.unmeasured = {{"", {{"batch", 2}, {"dtype", "fp32"}}, status, reason}};
    return find(document, "recommendation").claim;
  };
  expect_words(leave_out("skipped", "the time budget of 1 s ended; give a larger --time-budget"));
  expect_words(leave_out("skipped", "interrupted before it was timed"));
  expect_words(leave_out("oom", ""));
  document.points.clear();
  EXPECT_EQ(leave_out("oom", ""), "No batch was measured.");
}

// As in its row of the table.
TEST(BatchAdvice, OneRoundHasNoInterval) {
  ResultDocument document = document_of({{}}, 256);
  for (Point& point : document.points) {
    point.stats.rounds = 1;
    point.stats.ci95_ns.reset();
  }
  expect_words(find(document, "recommendation").claim);
  const Finding saturation = find(document, "ceiling_batch");
  EXPECT_FALSE(saturation.value);
  EXPECT_FALSE(saturation.ci95);
  EXPECT_EQ(saturation.interval_kind, "none");
  EXPECT_EQ(saturation.claim,
            "fp32 saturates at batch 1 to 256; not every point has an interval, which takes 2 rounds [larger "
            "--time-budget].");
}

// Without an interval no dtype is surely faster.
TEST(BatchAdvice, OneRoundIsNoReasonToLeaveFp32) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 220}}, 64);
  for (Point& point : document.points) {
    point.stats.ci95_ns.reset();
  }
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchAdvice, ANoisyRunThatStillGrowsSaysSo) {
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 8);
  blur(document, "fp32", 0.1);
  ASSERT_FALSE(find(document, "ceiling_batch").value);
  expect_words(find(document, "recommendation").claim);
}

}  // namespace
}  // namespace bench
