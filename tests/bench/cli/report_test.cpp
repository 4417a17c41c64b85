#include "bench/cli/report.h"

#include <gmock/gmock.h>

#include "bench/cli/table.h"
#include "bench/result/finding.h"
#include "bench/text/intervals.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/interruption.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

Point flagged(const std::string& name, std::vector<std::string> flags) {
  Point point;
  point.name = name;
  point.params = {{"batch", 1}};
  point.validity.flags = std::move(flags);
  return point;
}

Finding claimed(const std::string& name, const std::string& claim, int headline) {
  Finding finding = finding_of(name, "");
  finding.claim = claim;
  finding.headline = headline;
  return finding;
}

std::vector<std::string> printed(const ResultDocument& document, bool verbose) {
  std::vector<std::string> names;
  for (const Finding* finding : printed_findings(document, verbose)) {
    names.push_back(finding->name);
  }
  return names;
}

std::string marked(const ResultDocument& document) {
  Page page{.title = ""};
  page.table(points_table(document));
  return page_text(page, 200);
}

std::string warned(const ResultDocument& document) {
  return in_words(warnings_of(document), true);
}

TEST(Report, PrintsHeadlinesInTheirOrder) {
  ResultDocument document;
  document.findings = {claimed("detail", "D.", 0), claimed("second", "S.", 2), claimed("first", "F.", 1)};
  EXPECT_THAT(printed(document, false), ElementsAre("first", "second"));
  EXPECT_THAT(printed(document, true), ElementsAre("first", "second", "detail"));
}

TEST(Report, BeginsWithTheAnswerAndWrapsIt) {
  ResultDocument document;
  document.points = {flagged("a", {})};
  document.findings = {claimed("first", "Use batch 16 in fp32: 33.0 ± 0.3 samples/s in 258 MiB.", 1)};
  const std::string out = page_text(result_page(document, {}, false), 50);
  EXPECT_THAT(out, StartsWith("* Use batch 16 in fp32: 33.0 ± 0.3 samples/s in\n  258 MiB.\n\nbatch"));
}

// One table, whatever the sweep has; with --verbose all.
TEST(Report, HasOneEmptyLineBetweenItsParts) {
  ResultDocument document;
  document.points = {flagged("a", {"few_rounds"})};
  document.unmeasured = {{.name = "b", .params = {}, .status = "oom", .reason = "no room"}};
  document.findings = {claimed("first", "F.", 1)};
  const TextTable points{.title = "Points", .rows = {{"p"}, {1}}, .lists_points = true};
  const TextTable more{.title = "More of a table", .rows = {{"m"}, {2}}, .name = "more"};
  EXPECT_EQ(page_text(result_page(document, {points, more}, false), 100),
            "* F.\n\nPoints\np\n1\n1 more table: more (--verbose).\n\n✕ b oom: no room\n"
            "Warning: few rounds at the only point [larger --time-budget].\n");
  EXPECT_THAT(page_text(result_page(document, {points, more}, true), 100),
              StartsWith("* F.\n\nPoints\np\n1\n\nMore of a table\nm\n2\n\n✕ b oom: no room\n"
                         "Warning: fewer than 3 rounds at the only point [larger --time-budget].\n"));
}

TEST(Report, AddsTheTableOfPointsWhereNoneListsThem) {
  ResultDocument document;
  document.points = {flagged("a", {})};
  const TextTable answer{.title = "Answer", .rows = {{"a"}, {1}}};
  EXPECT_EQ(page_text(result_page(document, {answer}, false), 100),
            "Answer\na\n1\n1 more table: points (--verbose).\n");
}

TEST(Report, SaysWithVerboseThatTheIntervalBetweenRunsIsMissing) {
  ResultDocument document;
  document.points = {flagged("a", {})};
  for (const bool verbose : {false, true}) {
    const std::string out = page_text(result_page(document, {}, verbose), 200);
    EXPECT_EQ(out.find("Between runs: no interval is known") != std::string::npos, verbose);
  }
}

TEST(Report, WarnsInASentenceForEachRemedy) {
  ResultDocument document;
  EXPECT_EQ(warned(document), "");
  document.points = {flagged("a", {"noisy"}), flagged("b", {"noisy", "throttled:cpu_contention"})};
  EXPECT_EQ(warned(document),
            "Warning: 95 % intervals wider than ±10 % at both points [larger --time-budget]. Other "
            "processes used the CPU during 1 of 2 points (○) [idle machine].");
  document.points = {flagged("a", {"few_rounds", "noisy"})};
  document.unmeasured = {
      {.name = "b", .params = {}, .status = "skipped", .reason = "no time; give a larger --time-budget"},
      {.name = "c", .params = {}, .status = "skipped", .reason = "no room; give a larger --time-budget"},
      {.name = "d", .params = {}, .status = "unsupported", .reason = "no such thing; it has others"}};
  EXPECT_EQ(warned(document),
            "Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at the only point; "
            "2 points (b, c) were left out [larger --time-budget].");
  document.unmeasured.push_back(document.unmeasured.front());
  expect_words(warned(document));
}

// Both say that a figure is imprecise: one reason, one mark.
TEST(Report, FewRoundsAndWideIntervalsAreOneReason) {
  ResultDocument document;
  document.points = {flagged("a", {"noisy"}), flagged("b", {"few_rounds"}), flagged("c", {})};
  EXPECT_EQ(warned(document),
            "Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at 2 of 3 points (○) [larger "
            "--time-budget].");
  document.points.pop_back();
  EXPECT_EQ(warned(document),
            "Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at both points [larger "
            "--time-budget].");
  expect_words(marked(document));
}

// Each reason separates points, and together they would mark every row.
TEST(Report, MarksNoneWhereEachPointHasSomeFlag) {
  ResultDocument document;
  document.points = {flagged("a", {"noisy"}), flagged("b", {"few_rounds", "throttled:cpu_contention"}),
                     flagged("c", {"throttled:cpu_contention"})};
  EXPECT_EQ(warned(document),
            "Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at 2 of 3 points [larger "
            "--time-budget]. "
            "Other processes used the CPU during 2 of 3 points [idle machine].");
  expect_words(marked(document));
  document.points.push_back(flagged("d", {}));
  expect_words(warned(document));
  expect_words(marked(document));
}

TEST(Report, SaysWhereTheAnswerWasNotChecked) {
  ResultDocument document;
  document.points = {flagged("a", {}), flagged("b", {}), flagged("c", {})};
  document.points[0].verification = Verification{.passed = true, .error = 0, .tolerance = 1, .detail = ""};
  EXPECT_EQ(warned(document), "");
  document.points[1].verification = Verification{
      .passed = true, .error = 0, .tolerance = 1, .detail = "rows", .not_checked = "the other rows"};
  EXPECT_EQ(
      warned(document),
      "Warning: the answer was only partly checked at 1 of 3 points [see verification.not_checked in the "
      "result file].");
  document.points[2].verification =
      Verification{.passed = false, .error = 0, .tolerance = 0, .detail = "", .not_checked = "no reference"};
  expect_words(warned(document));
  expect_words(marked(document));
}

TEST(Report, DisturbedRoundsMixedSessionsAndAnUnusualHour) {
  ResultDocument document;
  document.points = {flagged("a", {"disturbed", "mixed_sessions"}), flagged("b", {})};
  EXPECT_EQ(
      warned(document),
      "Warning: sessions that differ are pooled at 1 of 2 points (○) [without --resume]. Other work or a "
      "slow spell disturbed most rounds of 1 of 2 points (○) [idle machine].");
  document.points = {flagged("a", {"disturbed", "throttled:cpu_contention"}), flagged("b", {})};
  EXPECT_EQ(warned(document),
            "Warning: other processes used the CPU during 1 of 2 points (○) [idle machine].");
  document.points = {flagged("a", {})};
  document.sessions.emplace_back().calibration["host"] = {
      .median = {.arithmetic_ns = 112, .copy_ns = 50},
      .readings = 9,
      .usual = Calibration{.arithmetic_ns = 100, .copy_ns = 50},
      .usual_runs = 8};
  EXPECT_EQ(warned(document),
            "Warning: arithmetic on the host takes 1.12× its usual time on this machine (median of 8 runs) "
            "[compare runs of the same hour only].");
  document.points = {flagged("a", {"disturbed", "throttled:cpu_contention"})};
  EXPECT_EQ(warned(document), "Warning: other processes used the CPU during the only point [idle machine].")
      << "their use is why arithmetic takes longer";
}

// One of twelve without a mark would not make the others worse.
TEST(Report, MarksNoneWhereNearlyEachPointHasAFlag) {
  ResultDocument document;
  for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}) {
    document.points.push_back(flagged(name, {"noisy"}));
  }
  document.points.push_back(flagged("l", {}));
  EXPECT_EQ(warned(document),
            "Warning: 95 % intervals wider than ±10 % at 11 of 12 points [larger --time-budget].");
  expect_words(marked(document));
  document.points.push_back(flagged("m", {}));
  expect_words(warned(document));
}

// The time budget had not ended.
TEST(Report, AnInterruptedRunIsToBeGoneOnWith) {
  ResultDocument document;
  document.points = {flagged("a", {"few_rounds", "throttled:cpu_contention"})};
  document.unmeasured = {
      {.name = "b", .params = {}, .status = "skipped", .reason = "no time; give a larger --time-budget"}};
  const testing::Interruption interruption;
  EXPECT_EQ(
      warned(document),
      "Warning: the run was interrupted; fewer than 3 rounds at the only point; b was left out [go on with "
      "--resume]. Other processes used the CPU during the only point [idle machine].");
}

TEST(Report, ARunThatTakesLongerThanAskedForSaysWhy) {
  constexpr double kSecond = 1e9;
  ResultDocument document;
  document.sweep.time_budget_ns = 1'000'000'000;
  document.points = {flagged("a", {})};
  EXPECT_FALSE(lateness_of(document, 1.9 * kSecond, false));
  EXPECT_EQ(lateness_of(document, 3.4 * kSecond, false).value().text,
            "the run took 3.40 s, as preparing its points takes that long (--time-budget 1.00 s)");
  document.sweep.time_budget_ns = 8'000'000'000;
  document.points = {flagged("a", {"throttled:cpu_contention"})};
  EXPECT_FALSE(lateness_of(document, 9.9 * kSecond, true));
  const std::optional<Warning> late = lateness_of(document, 14 * kSecond, true);
  EXPECT_EQ(in_words(warnings_of(document, late)),
            "Warning: the run took 14.0 s, as other processes used the CPU (--quick aims at 10.0 s). Other "
            "processes used the CPU during the only point [idle machine].");
  EXPECT_EQ(page_text(result_page(document, {}, false, late), 100).find("took 14.0 s") == std::string::npos,
            false);
}

TEST(Report, PointsAboveThePeakAreLeftOut) {
  ResultDocument document;
  document.points = {flagged("a", {"above_peak"}), flagged("b", {})};
  EXPECT_EQ(warned(document),
            "Warning: 1 of 2 points ran above the device's peak and is left out (○) [idle machine].");
  document.points = {flagged("a", {"above_peak"})};
  expect_words(warned(document));
  document.points.push_back(flagged("b", {"above_peak"}));
  expect_words(warned(document));
}

TEST(Headlines, AreAtMostFiveAndHaveAValue) {
  std::vector<Finding> findings;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    findings.push_back(finding_of(name, ""));
    findings.back().value = 1;
  }
  findings[0].value = std::nullopt;
  findings[1].value = std::nullopt;
  set_headlines(findings, {"a", "b", "missing", "g", "f", "e", "d", "c"});
  EXPECT_EQ(findings[0].headline, 1) << "the first, whatever it says";
  EXPECT_EQ(findings[1].headline, 0);
  EXPECT_EQ(findings[6].headline, 2);
  EXPECT_EQ(findings[3].headline, 5);
  EXPECT_EQ(findings[2].headline, 0);
}

TEST(PlusMinus, HasAsManyDigitsAsTheIntervalAllows) {
  EXPECT_EQ(plus_minus(33.1063, Interval{31.2535, 34.9591}), "33.1 ± 1.9");
  EXPECT_EQ(plus_minus(49.3, Interval{40, 58}), "49 ± 9");
  EXPECT_EQ(plus_minus(95.16, Interval{94.96, 95.36}), "95.16 ± 0.20");
  EXPECT_EQ(plus_minus(1.66, Interval{0.82, 10.76}), "1.7 (0.8 to 10.8)");
  EXPECT_EQ(plus_minus(4, Interval{2, 9.5}), "4.0 (2.0 to 9.5)");
  EXPECT_EQ(plus_minus(4.25, std::nullopt), "4.25");
  EXPECT_EQ(plus_minus(4.25, Interval{4.25, 4.25}), "4.25");
}

TEST(PlusMinus, SharesOneUnit) {
  EXPECT_EQ(plus_minus_duration(7.99e6, Interval{3.62e6, 12.4e6}), "8 ± 4 ms");
  EXPECT_EQ(plus_minus_rate(12.34e9, Interval{11.93e9, 12.75e9}, "B/s"), "12.3 ± 0.4 GB/s");
}

}  // namespace
}  // namespace bench
