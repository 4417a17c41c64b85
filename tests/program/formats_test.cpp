// --format: the result alone on standard output, in each format.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

std::string printed(const Arguments& arguments) {
  const Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out;
}

std::vector<std::string> lines_printed(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(Formats, OfASweepAndWhatARerunDoesWithTheOlderFile) {
  const TemporaryFolder folder;
  const Arguments run = small_run(folder.path());
  const std::string json = printed(run + Arguments{"--format", "json"});
  EXPECT_EQ(json, read_file(folder.path() / kSmallFile));

  const auto csv = lines_printed(printed(run + Arguments{"--format", "csv"}));
  ASSERT_EQ(csv.size(), 4U);
  EXPECT_THAT(csv[0], MatchesRegex("name,status,.*,items_per_s,items_per_s_low,.*,peak_bytes,flags,reason"));
  EXPECT_THAT(csv[1], StartsWith("batch/conv2d/"));

  const Ended markdown = run_bench(run + Arguments{"--format", "markdown"});
  EXPECT_THAT(markdown.out, StartsWith("#"));
  EXPECT_THAT(markdown.out, HasSubstr("| ---"));
  EXPECT_THAT(markdown.err, HasSubstr("result   " + (folder.path() / kSmallFile).string()));
  // The date of the run that was there.
  EXPECT_THAT(markdown.err, HasSubstr("earlier  " + (folder.path() / "batch-conv2d-cpu.2").string()));

  const Ended resumed = run_bench(run + Arguments{"--resume"});
  EXPECT_THAT(resumed.err, HasSubstr("--resume: going on with " + (folder.path() / kSmallFile).string()));
  EXPECT_THAT(resumed.out, Not(HasSubstr("earlier")));
}

TEST(Formats, APlanSaysHowLongARunTakes) {
  const Json json =
      Json::parse(printed({"--sweep", "batch", "--workload", "conv2d", "--batch", "1,2", "--dtype", "fp32",
                           "--device", "cpu", "--dry-run", "--format", "json"}));
  EXPECT_EQ(json.at("points").size(), 2U);
  EXPECT_GT(json.at("expected_duration_ns"), 0);
}

TEST(Formats, OfAListByBothOptions) {
  EXPECT_EQ(printed({"--list", "--format", "json"}), printed({"--list", "--benchmark_format=json"}));
}

}  // namespace
}  // namespace bench::testing
