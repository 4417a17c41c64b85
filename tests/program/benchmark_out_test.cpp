// --benchmark_out: written whole beside the program's own result, never over it.
#include <gmock/gmock.h>

#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BenchmarkOut, NeverTakesThePlaceOfTheResult) {
  const TemporaryFolder folder;
  const auto result = folder.path() / kSmallFile;
  const Ended ended = run_bench(small_run(folder.path()) + Arguments{"--benchmark_out=" + result.string()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("--benchmark_out"), HasSubstr(result.string())));
  EXPECT_FALSE(std::filesystem::exists(result));
}

TEST(BenchmarkOut, IsCheckedBeforeAnythingIsMeasured) {
  const TemporaryFolder folder;
  for (const std::string& target :
       {(folder.path() / "no" / "such" / "folder.json").string(), folder.path().string()}) {
    const Ended ended = run_bench(small_run(folder.path() / "out") + Arguments{"--benchmark_out=" + target});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr(target));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out" / kSmallFile)) << "nothing was to be measured";
  }
}

TEST(BenchmarkOut, ReplacesAnOlderFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder.path() / "google.json", "older");
  const Ended ended = run_bench(small_run(folder.path() / "out") +
                                Arguments{"--benchmark_out=" + (folder.path() / "google.json").string()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read_file(folder.path() / "google.json"), HasSubstr("\"benchmarks\""));
  EXPECT_THAT(folder.names(), ::testing::UnorderedElementsAre("google.json", "out"));
  EXPECT_THAT(schema_errors(read_file(folder.path() / "out" / kSmallFile)), IsEmpty());
}

}  // namespace
}  // namespace bench::testing
