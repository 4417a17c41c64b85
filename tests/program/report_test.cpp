// `bench report` as a user runs it: the reference results, predictions, and files that it refuses.
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>

#include "bench/json.h"
#include "tests/bench/support/temporary_folder.h"
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
  void expect_refused(const Arguments& arguments, const std::string& sentence) {
    const Ended ended = report(arguments);
    EXPECT_EQ(ended.code, 2) << sentence;
    EXPECT_THAT(ended.err, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_EQ(ended.out, "");
  }

  TemporaryFolder folder_;
};

TEST_F(ReportProgram, MakesOnePageOfFiveSweeps) {
  const Ended ended = report(Arguments(kFive) + Arguments{"-o", path("report.html")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"report.html"}) << "no temporary file stays";
  const std::string html = read_file(path("report.html"));
  EXPECT_LE(html.size(), 300'000U);
  EXPECT_THAT(
      html,
      AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("Use batch 8 in fp32"), HasSubstr("Use 2 workers"),
            HasSubstr("Throughput against batch"), HasSubstr("Memory, fp32 inference"),
            HasSubstr("Bandwidth of copies to the device"), HasSubstr("A step of resnet18"),
            HasSubstr("Accelerator utilisation (AU) against workers"), HasSubstr("Roofline"),
            HasSubstr("download=\"batch-resnet50-cpu.json"), HasSubstr("download=\"workers-20ms-cpu.json")));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("No picture")), Not(HasSubstr("http:")), Not(HasSubstr("https:")),
                          Not(HasSubstr("left out for its size")), Not(HasSubstr(kReferences))));
  EXPECT_LT(html.find("Use batch 8 in fp32"), html.find("<svg"));
  // The same bytes again, from a copy of the files, on standard output.
  Arguments copies;
  for (const std::string& file : kFive) {
    fs::copy_file(file, folder_.path() / fs::path(file).filename());
    copies.push_back(path(fs::path(file).filename()));
  }
  EXPECT_EQ(report(copies).out, html);
}

TEST_F(ReportProgram, WritesMarkdown) {
  const Ended ended = report({reference("batch-resnet50"), "--format", "markdown"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(StartsWith("# batch"), HasSubstr("\n1. Use batch 8 in fp32"),
                    HasSubstr("\n| batch | fp32"), HasSubstr("| ---: |"), HasSubstr("## Environment")));
  EXPECT_EQ(report({reference("batch-resnet50"), "-o", path("r.md")}).code, 0);
  EXPECT_EQ(read_file(path("r.md")), ended.out);
}

TEST_F(ReportProgram, WritesForPrograms) {
  const Arguments two{reference("batch-resnet50"), reference("workers-20ms")};
  const Ended ended = report(two + Arguments{"--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  EXPECT_THAT(json.at("answer").at(0).at("claim").get<std::string>(), StartsWith("Use batch 8 in fp32"));
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
  const std::string text = read_file(path("points.csv"));
  EXPECT_THAT(text, AllOf(StartsWith("file,name,status,"), HasSubstr("\n" + two[0] + ",batch/resnet50/"),
                          HasSubstr("\n" + two[1] + ",workers/")));
  EXPECT_EQ(report(two + Arguments{"--format", "csv"}).out, text);
}

TEST_F(ReportProgram, AdvisesOnResultsOfOneNetwork) {
  const Arguments two{reference("batch-resnet50"), reference("workers-20ms")};
  const Ended html = report(two + Arguments{"--format", "html", "--current", "batch=32", "-o", "-"});
  ASSERT_EQ(html.code, 0) << html.err;
  EXPECT_THAT(html.out, AllOf(HasSubstr("<h2>What to change</h2>"), HasSubstr("Bottleneck: compute."),
                              HasSubstr("A step of 833 ms: computing 783 ms"), HasSubstr("What was tried"),
                              Not(HasSubstr("PyTorch&apos;s defaults")), Not(HasSubstr(kReferences))));
  EXPECT_LT(html.out.find("What to change"), html.out.find("<figure"));
  const Ended markdown = report(two + Arguments{"--format", "markdown"});
  ASSERT_EQ(markdown.code, 0) << markdown.err;
  EXPECT_THAT(markdown.out, AllOf(HasSubstr("## What to change\n\n### resnet50, inference"),
                                  HasSubstr("The settings are PyTorch")));
  // Results of two networks: nothing is advised, unless it was asked for.
  const Ended five = report(Arguments(kFive) + Arguments{"--format", "markdown"});
  EXPECT_EQ(five.code, 0) << five.err;
  EXPECT_THAT(five.out, AllOf(HasSubstr("No advice: "), Not(HasSubstr("What to change"))));
  expect_refused(Arguments(kFive) + Arguments{"--format", "markdown", "--current", "batch=8"},
                 "give results of one network");
  expect_refused(two + Arguments{"--format", "html", "--current", "batch=x"}, "--current: batch is");
}

TEST_F(ReportProgram, PredictionsSayThatTheyArePredicted) {
  const Ended predicted =
      run_bench({"--sweep", "batch", "--workload", "resnet18", "--device", "t4", "--dtype", "fp32", "--batch",
                 "1,4", "--no-plot", "--out", folder_.path().string()});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const std::string html = report({path("batch-resnet18-t4-predicted.json")}).out;
  EXPECT_THAT(html, AllOf(HasSubstr("<h1>Predicted, batch: resnet18"), HasSubstr("Band: 80 % interval"),
                          HasSubstr("How it was predicted"), Not(HasSubstr("95 % intervals")),
                          Not(HasSubstr("No picture"))));
  EXPECT_THAT(report({path("batch-resnet18-t4-predicted.json"), "--format", "markdown"}).out,
              HasSubstr("(predicted, not measured)"));
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
  EXPECT_THAT(full.err, HasSubstr("full.html cannot be written"));
  EXPECT_EQ(read_file(path("full.html")), "old");
}

TEST_F(ReportProgram, RefusesWrongUse) {
  const std::string batch = reference("batch-resnet50");
  expect_refused({}, "no result is given");
  expect_refused({batch, "--", batch}, "-- has no place here");
  expect_refused({batch, "--format", "pdf"}, "--format");
  expect_refused({batch, "-o"}, "-o: a value is missing");
  expect_refused({batch, batch}, "is given twice");
  expect_refused({batch, "-o", path("missing/report.html")}, "cannot be written");
  expect_refused({batch, "-o", folder_.path().string()}, "cannot be written");
  expect_refused({batch, "-o", path("report.json")}, "give a name that ends in .html or .md");
  fs::copy_file(batch, path("own"));
  expect_refused({path("own"), "-o", path("own")}, "is one of the results");
  fs::create_hard_link(path("own"), path("also"));
  expect_refused({path("own"), "-o", path("also")}, "is one of the results");
  EXPECT_EQ(read_file(path("own")), read_file(batch));
}

TEST_F(ReportProgram, RefusesWhatIsNoResult) {
  const std::string text = read_file(reference("batch-resnet50"));
  write_file(path("empty.json"), "");
  write_file(path("cut.json"), text.substr(0, text.size() / 2));
  write_file(path("other.json"), "{\"schema\": \"bench-evaluate/1\"}");
  write_file(path("list.json"), "[]");
  for (const char* const name : {"empty.json", "cut.json", "other.json", "list.json", "missing.json"}) {
    expect_refused({path(name), "-o", path("report.html")}, name);
  }
  EXPECT_FALSE(fs::exists(path("report.html")));
}

// Readable results whose params, findings and state are not as the sweep writes them.
TEST_F(ReportProgram, CopesWithForeignContent) {
  for (const std::string& file : kFive) {
    for (const Json& odd :
         {Json(nullptr), Json("<b>"), Json(-1), Json::array({1, "x"}), Json::object({{"a", 1}})}) {
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
      EXPECT_THAT(ended.out, Not(HasSubstr("<b>")));
    }
  }
}

}  // namespace
}  // namespace bench::testing
