// Dtypes beside each other, and what the batch sweep recommends.
#include "batch_machine.h"

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BatchAdvice, ComparesDtypes) {
  const Machine bf16{
      .dtype = "bf16", .t0_ns = 2e6, .per_s = 220, .fixed_bytes = 50 << 20, .sample_bytes = 5 << 20};
  const ResultDocument document = document_of({{}, bf16}, 256);
  const Finding speedup = find(document, "speedup_bf16");
  EXPECT_NEAR(*speedup.value, 2.2, 0.05);
  EXPECT_LT(speedup.ci95->low, *speedup.value);
  EXPECT_GT(speedup.ci95->high, *speedup.value);
  EXPECT_THAT(speedup.claim, HasSubstr("as fast as fp32 at batch 16"));
  EXPECT_THAT(speedup.evidence, Contains("batch/tiny/infer/bf16/batch:16"));

  const Finding memory = find(document, "memory_ratio_bf16");
  EXPECT_DOUBLE_EQ(*memory.value, 0.5);
  EXPECT_THAT(memory.claim, HasSubstr("At batch 256 bf16 needs 1.30 GiB"));

  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["dtype"], "bf16");
  EXPECT_THAT(recommendation.claim, HasSubstr("if its accuracy suffices"));
}

TEST(BatchAdvice, EqualSpeedsShowNoDifference) {
  const ResultDocument document = document_of({{.noise = 0.02}, {.dtype = "bf16", .noise = 0.02}}, 64);
  EXPECT_THAT(find(document, "speedup_bf16").claim, HasSubstr("no difference in speed"));
}

TEST(BatchAdvice, AGainWithinTheNoiseIsNoReasonToLeaveFp32) {
  const ResultDocument document =
      document_of({{.noise = 0.02}, {.dtype = "bf16", .per_s = 101, .noise = 0.02}}, 64);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchAdvice, SaysWhereMemoryEndsBeforeTheCeiling) {
  // 100 MiB and 10 MiB a sample: 16 need 260 MiB, and 300 MiB hold 20.
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 16, 300 << 20);
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("memory ends at batch 20"));
  document.unmeasured.push_back({"", {{"batch", 32}, {"dtype", "fp32"}}, "oom", ""});
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("batch 32 does not fit"));
}

TEST(BatchAdvice, DtypesWithoutASharedBatchCannotBeCompared) {
  ResultDocument document = document_of({{}, {.dtype = "bf16"}}, 1);
  document.benchmarks[1].params["batch"] = 2;
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
  EXPECT_THAT(recommendation.claim,
              AllOf(HasSubstr("Use batch 64 in bf16"), HasSubstr("its ceiling is unclear")));
}

TEST(BatchAdvice, ADtypeWithoutACeilingThatIsNotSurelyFasterDoesNotWin) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 104}}, 64);
  blur(document, "bf16", 0.1);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

// A ceiling is up to 5 % below the best, which the other dtype's best surely passes though both are as fast.
TEST(BatchAdvice, ACeilingBelowTheBestIsNoReasonToLeaveFp32) {
  const ResultDocument document = document_of({{.noise = 0.002}, {.dtype = "bf16", .noise = 0.002}}, 256);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchAdvice, FewRoundsAloneAreSaidAndProveNoRatio) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 84'000}}, 16);
  flag(document, "", {"few_rounds", "throttled:cpu_contention"});
  for (const std::string name : {"t_inf/fp32", "ceiling_batch/fp32", "limit_below_ceiling/bf16"}) {
    EXPECT_THAT(find(document, name).claim,
                AllOf(HasSubstr("few_rounds"), HasSubstr("other work held the cores")))
        << name;
  }
  EXPECT_FALSE(find(document, "speedup_bf16").value);
  EXPECT_FALSE(find(document, "speedup_bf16").ci95);
  EXPECT_THAT(find(document, "speedup_bf16").claim, HasSubstr("few_rounds"));
  EXPECT_FALSE(find(document, "recommendation").value);
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("few_rounds"));
  EXPECT_TRUE(find(document, "memory_line/fp32").value);
}

TEST(BatchAdvice, WideRatiosCannotBeToldApart) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 120}}, 4);
  blur(document, "bf16", 0.5);
  EXPECT_THAT(find(document, "speedup_bf16").claim,
              AllOf(HasSubstr("cannot be told apart"), Not(HasSubstr("no difference"))));
}

}  // namespace
}  // namespace bench
