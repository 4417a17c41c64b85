// The findings of the batch sweep as a whole, and with too few points.
#include "batch_machine.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(BatchFindings, OneDtypeNeedsNoSuffix) {
  EXPECT_THAT(names_of(findings_of(document_of({{}}, 64))),
              ElementsAre("t_inf", "t0", "ceiling_batch", "limit_below_ceiling", "memory_line",
                          "largest_batch", "recommendation"));
}

TEST(BatchFindings, NamesFollowTheAxisSoThatTheyDoNotChangeAsPointsArrive) {
  ResultDocument document = document_of({{}}, 4);
  document.sweep.axes["dtype"] = {"fp32", "bf16"};
  EXPECT_THAT(names_of(findings_of(document)), AllOf(Contains("t0/fp32"), Not(Contains("t0"))));
}

TEST(BatchFindings, OneOfAThingIsSingular) {
  ResultDocument document = document_of({{.t0_ns = 30e6}, {.dtype = "bf16", .per_s = 200}}, 8);
  document.points[0].work.launches = 1;
  expect_words(find(document, "limit_below_ceiling/fp32").claim);
  // One batch shared, and not the one at the saturation.
  std::erase_if(document.points,
                [](const Point& p) { return p.params["dtype"] == "fp32" && p.params["batch"] != 1; });
  expect_words(find(document, "speedup_bf16").claim);
}

TEST(BatchFindings, NoPointsSayWhatIsMissing) {
  const auto findings = findings_of(ResultDocument{});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "recommendation");
  EXPECT_FALSE(findings[0].value);
  EXPECT_EQ(findings[0].claim, "No batch was measured.");
}

TEST(BatchFindings, OnePointSaysWhatIsMissing) {
  const ResultDocument document = document_of({{}}, 1, 1LL << 30);
  for (const Finding& finding : findings_of(document)) {
    if (finding.name != "limit_below_ceiling" && finding.name != "recommendation") {
      EXPECT_FALSE(finding.value) << finding.name;
      expect_words(finding.claim);
    }
  }
}

// An interval is null where it is not known, and its kind says so.
TEST(BatchFindings, TheKindOfEachIntervalIsNamed) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 220}}, 64, 1LL << 30);
  std::map<std::string, std::string> kinds;
  for (const Finding& finding : findings_of(document)) {
    EXPECT_EQ(finding.ci95.has_value(), finding.interval_kind != "none") << finding.name;
    kinds[finding.name] = finding.interval_kind;
  }
  EXPECT_EQ(kinds["t0/fp32"], "fit");
  EXPECT_EQ(kinds["memory_line/fp32"], "fit");
  EXPECT_EQ(kinds["ceiling_batch/fp32"], "range");
  EXPECT_EQ(kinds["speedup_bf16"], "rounds");
  EXPECT_EQ(kinds["largest_batch/fp32"], "none");
}

TEST(BatchFindings, TwoPointsGiveALineOfMemoryThatNothingTestsYet) {
  const ResultDocument document = document_of({{}}, 2, 1LL << 30);
  EXPECT_FALSE(find(document, "t0").value);
  EXPECT_FALSE(find(document, "t_inf").value);
  expect_words(find(document, "memory_line").claim);
}

// A file may hold whatever an older program or another tool wrote.
TEST(BatchFindings, SurvivesPointsWithoutTheirNumbers) {
  ResultDocument document = document_of({{}}, 64);
  document.points[0].params = nullptr;
  document.points[1].work = {};
  document.points[2].stats = {};
  document.points[3].stats.ci95_ns = {0, 0};
  document.points[4].memory.peak_measured = 0;
  document.sweep = {};
  for (const Finding& finding : findings_of(document)) {
    EXPECT_FALSE(finding.claim.empty()) << finding.name;
    EXPECT_TRUE(!finding.value || std::isfinite(*finding.value)) << finding.name;
  }
}

std::vector<std::string> headlines_of(const ResultDocument& document) {
  std::vector<Finding> findings = findings_of(document);
  std::erase_if(findings, [](const Finding& finding) { return finding.headline == 0; });
  std::ranges::sort(findings, {}, &Finding::headline);
  return names_of(findings);
}

TEST(BatchFindings, HeadlinesBeginWithTheRecommendation) {
  EXPECT_THAT(headlines_of(document_of({{}}, 64, 1LL << 30)),
              ElementsAre("recommendation", "largest_batch", "limit_below_ceiling", "t_inf", "t0"));
  EXPECT_THAT(headlines_of(document_of({{}, {.dtype = "bf16", .per_s = 220}}, 64, 1LL << 30)),
              ElementsAre("recommendation", "ceiling_batch/fp32", "speedup_bf16", "largest_batch/bf16",
                          "limit_below_ceiling/bf16"));
}

TEST(BatchFindings, NoHeadlineSaysOnlyWhatIsMissing) {
  EXPECT_THAT(headlines_of(document_of({{}}, 1, 1LL << 30)),
              ElementsAre("recommendation", "limit_below_ceiling"));
  EXPECT_THAT(headlines_of(ResultDocument{}), ElementsAre());
}

TEST(BatchFindings, OneBatchOfTwoDtypesTellsWhatLimitsTheFasterOne) {
  EXPECT_THAT(headlines_of(document_of({{}, {.dtype = "bf16", .per_s = 220}}, 1, 1LL << 30)),
              ElementsAre("recommendation", "speedup_bf16", "limit_below_ceiling/bf16"));
}

TEST(BatchFindings, HeadlinesTakeTwoLinesAtMost) {
  const ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 220}}, 256, 12LL << 30);
  for (const Finding& finding : findings_of(document)) {
    if (finding.headline > 0) {
      EXPECT_LE(finding.claim.size(), 200U) << finding.claim;
    }
  }
}

}  // namespace
}  // namespace bench
