// `bench advise` as a user runs it, and the answers that its documents print.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kRoot = BENCH_TEST_SOURCE_DIR "/";

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// From the repository's root, so that the path in the answer is the document's.
Ended advise(const std::string& words) {
  return Process({"-c", "cd " + kRoot + " && " + BENCH_PROGRAM + " advise " + words}, std::nullopt, "/bin/sh")
      .wait();
}

// Every line that a document shows below `$ bench advise …` is one that the program prints, in
// this order; "…" stands for lines that are left out.
void expect_as_printed(const std::string& document, std::size_t outputs) {
  const OtherVariable columns("COLUMNS", "100");
  const std::string begin = "$ bench advise ";
  const std::vector<std::string> lines = lines_in(read_file(kRoot + document));
  std::size_t found = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(begin)) {
      continue;
    }
    ++found;
    const std::string words = lines[i].substr(begin.size());
    const Ended ended = advise(words);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const std::vector<std::string> all = lines_in(ended.out);
    auto from = all.begin();
    for (++i; i < lines.size() && lines[i] != "```"; ++i) {
      if (lines[i] == "…" || lines[i].empty()) {
        continue;
      }
      const auto at = std::find(from, all.end(), lines[i]);
      EXPECT_NE(at, all.end()) << document << ": " << words << " does not print\n" << lines[i];
      from = at == all.end() ? from : at + 1;
    }
  }
  EXPECT_EQ(found, outputs) << document;
}

TEST(Advise, TheDocumentsShowWhatItPrints) {
  expect_as_printed("docs/cases.md", 5);
  expect_as_printed("docs/advise.md", 2);
}

const std::string kCards =
    kRoot + "results/reference/intel-xeon-amx-2-cores/cards-case-e-stages-4-ranks-cpu.json";

TEST(Advise, AResultOfTheCardsSweepIsAnsweredByWhatItMeasured) {
  const Ended ended = run_bench({"advise", kCards, "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(schema_errors(ended.out, (kRoot + "results/advice-schema.json").c_str()), "");
  const Json advice = Json::parse(ended.out);
  EXPECT_EQ(advice["bottleneck"], "stages");
  EXPECT_EQ(advice["changes"].size() + advice["tried"].size(), 2U);
  EXPECT_EQ(run_bench({"advise", kCards, "--cards", "8", "--link", "eth-10g"}).code, 2);
}

TEST(Advise, ACasePlansItsStandIn) {
  const Ended ended =
      run_bench({"advise", "--observed", kRoot + "results/observed/case-c.json", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  EXPECT_EQ(json["bottleneck"], "swap");
  const auto planned = std::ranges::find_if(json["tables"], [](const Json& table) {
    return table["question"].get<std::string>().find("gpt_small, a stand-in") != std::string::npos;
  });
  ASSERT_NE(planned, json["tables"].end());
  EXPECT_EQ((*planned)["rows"].size(), 1U + 2 * 2 * 2) << "two dtypes, batches and sequences";
}

TEST(Advise, ReadsStandardInput) {
  const TemporaryFolder folder;
  const fs::path readings = folder.path() / "readings.json";
  write_file(readings, R"({"step_s": 1, "data_s": 0.5, "batch": 8, "workers": 0})");
  const Ended ended = Process({"-c", std::string(BENCH_PROGRAM) + " advise --observed - --format json < " +
                                         readings.string()},
                              std::nullopt, "/bin/sh")
                          .wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out).at("bottleneck"), "loader");
}

const std::string kBatchResult = kRoot + "results/reference/intel-xeon-2-cores/batch-resnet50-cpu.json";

TEST(Advise, TwoSweepsThatTimeAStepDifferentlyAreNamed) {
  const TemporaryFolder folder;
  const std::string memory = (folder.path() / "memory.json").string();
  Json json = Json::parse(read_file(kBatchResult));
  json["sweep"]["name"] = "memory";
  for (Json& point : json["benchmarks"]) {
    for (Json& sample : point["samples_ns"]) {
      sample = 2 * sample.get<std::int64_t>();
    }
    point["stats"]["median_ns"] = 2 * point["stats"]["median_ns"].get<double>();
  }
  write_file(memory, json.dump());
  const Ended ended = run_bench({"advise", kBatchResult, memory, "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(Json::parse(ended.out)["contradictions"].dump(), HasSubstr("memory.json"));
}

}  // namespace
}  // namespace bench::testing
