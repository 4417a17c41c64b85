// What a sweep prints when it ends, and what its results amount to when the time budget ends early.
#include "bench/commands/summary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::IsEmpty;

std::string summary_of(const ResultDocument& document, const ResultFile& file) {
  Options options;
  options.plot = false;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  print_summary(options, document, {}, file);
  return ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
}

// The memory sweep knows from plans which batches fit, before its first sample.
ResultDocument answered_by_plans() {
  ResultDocument document;
  document.findings = {finding_of("largest_batch", "samples")};
  document.findings.front().value = 12;
  document.findings.front().claim = "Within 1 GiB: batch 12.";
  return document;
}

TEST(Summary, NamesTheFileThatWasWritten) {
  const testing::TemporaryFolder folder;
  ResultFile file(folder.path(), "memory", "net", "cpu");
  file.write(answered_by_plans());
  EXPECT_THAT(summary_of(answered_by_plans(), file),
              ::testing::HasSubstr("result   " + file.path().string()));
}

TEST(Summary, NamesNoFileThatWasNotWritten) {
  const testing::TemporaryFolder folder;
  const ResultFile file(folder.path(), "memory", "net", "cpu");
  EXPECT_EQ(summary_of(answered_by_plans(), file), "Nothing was measured, and nothing was written.\n");
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(WorkloadFileLines, SayWhatIsReadAndAssumedInTwoLinesEach) {
  WorkloadType workload;
  EXPECT_EQ(workload_file_lines(workload, 80), "");
  workload.file.emplace();
  workload.file->inputs = {{.name = "ids", .shape = "batch x 128", .content = "tokens below 30522"},
                           {.name = "m\x1b", .shape = "batch x 128", .content = "ones (an attention mask)"}};
  EXPECT_EQ(
      workload_file_lines(workload, 100),
      "  reads ids (batch x 128): tokens below 30522; m\\x1b (batch x 128): ones (an attention mask)\n");
  workload.file->assumptions = {"Dropout is off."};
  for (int output = 0; output < 100; ++output) {
    workload.file->assumptions.push_back("An output is not computed.");
  }
  workload.missing_modes = {{"train", "relu9 cannot be trained"}};
  const std::string text = workload_file_lines(workload, 80);
  expect_words(text);
  EXPECT_EQ(std::ranges::count(text, '\n'), 5) << text;
}

SweepPlan plan_with_a_reference_point() {
  SweepPlan plan;
  for (const char* const name : {"ready", "fed", "starved"}) {
    SweepPoint point;
    point.name = name;
    point.is_reference = plan.points.empty();
    plan.points.push_back(point);
  }
  return plan;
}

ResultDocument run_that_measured(const std::vector<std::string>& names, const std::string& fate_of_the_rest) {
  ResultDocument document;
  const SweepPlan plan = plan_with_a_reference_point();
  for (const SweepPoint& point : plan.points) {
    if (std::ranges::find(names, point.name) != names.end()) {
      document.points.emplace_back().name = point.name;
    } else {
      document.unmeasured.emplace_back().name = point.name;
      document.unmeasured.back().status = fate_of_the_rest;
    }
  }
  return document;
}

TEST(ExitCodeOfARun, IsInconclusiveWhereOnlyReferencePointsWereMeasured) {
  const SweepPlan plan = plan_with_a_reference_point();
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready"}, "skipped")), ExitCode::inconclusive);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready", "fed"}, "skipped")), ExitCode::done);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"fed"}, "skipped")), ExitCode::done);
  EXPECT_EQ(exit_code_of(plan, run_that_measured({"ready"}, "oom")), ExitCode::done);  // an answer
}

TEST(ExitCodeOfARun, IsInconclusiveWhereNothingWasMeasured) {
  const SweepPlan plan = plan_with_a_reference_point();
  for (const char* const fate : {"skipped", "unsupported", "oom", "error"}) {
    EXPECT_EQ(exit_code_of(plan, run_that_measured({}, fate)), ExitCode::inconclusive) << fate;
  }
  EXPECT_EQ(exit_code_of(SweepPlan{}, ResultDocument{}), ExitCode::done) << "all was predicted";
}

}  // namespace
}  // namespace bench
