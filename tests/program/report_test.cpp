// `bench report` as a user runs it: the reference results, predictions, and files that it refuses.
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>

#include "bench/json.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kReferences = BENCH_TEST_SOURCE_DIR "/results/reference/";

std::string reference(const std::string& name) {
  return kReferences + "intel-xeon-2-cores/" + name + "-cpu.json";
}
const std::vector<std::string> kFive{reference("batch-resnet50"), reference("memory-resnet18"),
                                     reference("transfer-resnet18"), reference("workers-20ms"),
                                     reference("kernels-all")};

class ReportProgram : public ::testing::Test {
 protected:
  Ended report(const Arguments& arguments) { return run_bench(Arguments{"report"} + arguments); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(ReportProgram, MakesOnePageOfFiveSweeps) {
  const Ended ended = report(Arguments(kFive) + Arguments{"-o", path("report.html")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"report.html"}) << "no temporary file stays";
  const std::string html = read_file(path("report.html"));
  EXPECT_LE(html.size(), 300'000U);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http:")), Not(HasSubstr("https:")), Not(HasSubstr(kReferences))));
  // The same bytes again, from a copy of the files, on standard output.
  Arguments copies;
  for (const std::string& file : kFive) {
    fs::copy_file(file, folder_.path() / fs::path(file).filename());
    copies.push_back(path(fs::path(file).filename()));
  }
  EXPECT_EQ(report(copies).out, html);
}

TEST_F(ReportProgram, AFileOfMarkdownHoldsWhatIsPrinted) {
  const Ended ended = report({reference("batch-resnet50"), "--format", "markdown"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(report({reference("batch-resnet50"), "-o", path("r.md")}).code, 0);
  EXPECT_EQ(read_file(path("r.md")), ended.out);
}

TEST_F(ReportProgram, WritesForPrograms) {
  const Arguments two{reference("batch-resnet50"), reference("workers-20ms")};
  const Ended ended = report(two + Arguments{"--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  EXPECT_EQ(json.at("answer").at(0).at("result"), json.at("results").at(0).at("title"));
  EXPECT_EQ(json.at("advice").at("bottleneck"), "compute");
  ASSERT_EQ(json.at("results").size(), 2U);
  for (const Json& result : json.at("results")) {
    EXPECT_FALSE(result.at("findings").empty());
    ASSERT_FALSE(result.at("points").empty());
    EXPECT_EQ(result.at("points").at(0).size(), result.at("points").back().size());
    EXPECT_FALSE(result.at("method").empty());
  }
  EXPECT_FALSE(json.at("environments").at(0).at("facts").empty());

  const Ended csv = report(two + Arguments{"--format", "csv", "-o", path("points.csv")});
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(report(two + Arguments{"--format", "csv"}).out, read_file(path("points.csv")));
}

TEST_F(ReportProgram, OfTwoRunsOfOneQuestionShowsTheBetterMeasured) {
  const std::string good = read_file(reference("batch-resnet50"));
  Json wide = Json::parse(good);
  for (Json& point : wide.at("benchmarks")) {
    Json& interval = point.at("stats").at("ci95_ns");
    if (interval.is_array()) {
      interval = {0.5 * interval[0].get<double>(), 2 * interval[1].get<double>()};
    }
  }
  write_file(path("batch.json"), wide.dump());
  write_file(path("batch.2026-01-02.json"), good);
  const Ended both = report({folder_.path().string(), "--format", "markdown"});
  EXPECT_EQ(both.out, report({path("batch.2026-01-02.json"), "--format", "markdown"}).out);
  EXPECT_THAT(both.err, HasSubstr("batch.json (an earlier run was measured better"));
  write_file(path("batch.json"), good);
  write_file(path("batch.2026-01-02.json"), wide.dump());
  EXPECT_THAT(report({folder_.path().string(), "--format", "markdown"}).err, HasSubstr("a later run took"));
}

TEST_F(ReportProgram, ReplacesItsFileAsAWhole) {
  write_file(path("old.html"), "old");
  fs::create_symlink("old.html", path("link.html"));
  EXPECT_EQ(report({reference("batch-resnet50"), "-o", path("link.html")}).code, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.html")));
  EXPECT_THAT(read_file(path("old.html")), StartsWith("<!DOCTYPE html>"));
  write_file(path("full.html"), "old");
  constexpr long kSmall = 4096;
  const Ended full = run_bench({"report", reference("batch-resnet50"), "-o", path("full.html")}, kSmall);
  EXPECT_EQ(full.code, 2);
  expect_words(without_path(full.err, folder_.path()));
  EXPECT_EQ(read_file(path("full.html")), "old");
}

// Readable results whose params, findings and state are not as the sweep writes them.
TEST_F(ReportProgram, CopesWithForeignContent) {
  for (const std::string& file : kFive) {
    for (const Json& odd :
         {Json(nullptr), Json("<script>"), Json(-1), Json::array({1, "x"}), Json::object({{"a", 1}})}) {
      Json json = Json::parse(read_file(file));
      for (Json& point : json["benchmarks"]) {
        for (auto& [name, value] : point["params"].items()) {
          value = odd;
        }
      }
      for (Json& finding : json["findings"]) {
        if (finding.contains("details")) {
          finding["details"] = Json::object({{"dtype", odd}, {"grows", odd}});
        }
        finding["value"] = nullptr;
      }
      for (const char* const state : {"measured", "simulated", "transfer", "limits"}) {
        if (json["sweep"].contains(state)) {
          json["sweep"][state] = odd;
        }
      }
      write_file(path("odd.json"), json.dump());
      const Ended ended = report({path("odd.json")});
      EXPECT_TRUE(ended.code == 0 || ended.code == 2) << file << odd << ended.err << ended.signal;
      EXPECT_THAT(ended.out, Not(HasSubstr("<script>")));
    }
  }
}

}  // namespace
}  // namespace bench::testing
