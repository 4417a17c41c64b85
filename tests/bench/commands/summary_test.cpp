// What a sweep prints when it ends.
#include "bench/commands/summary.h"

#include <gmock/gmock.h>

#include <string>

#include "bench/run/result_file.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string summary_of(const ResultDocument& document, const ResultFile& file) {
  Options options;
  options.plot = false;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  print_summary(options, "memory", document, {}, file);
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
  EXPECT_THAT(summary_of(answered_by_plans(), file), HasSubstr("result   " + file.path().string()));
}

TEST(Summary, NamesNoFileThatWasNotWritten) {
  const testing::TemporaryFolder folder;
  const ResultFile file(folder.path(), "memory", "net", "cpu");
  EXPECT_EQ(summary_of(answered_by_plans(), file), "Nothing was measured, and nothing was written.\n");
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace bench
