// `bench advise` as a user runs it, and the answers that its documents print.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/cli/text.h"
#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
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
  EXPECT_THAT(advice["tables"][0]["notes"][0].get<std::string>(), HasSubstr("whether layers over ranks pay"));
  EXPECT_EQ(advice["changes"].size() + advice["tried"].size(), 2U);
  for (const auto& [more, message] :
       {std::pair{Arguments{"--current", "batch=4"}, "--current: "},
        std::pair{Arguments{kCards}, "a second result of the cards sweep"},
        std::pair{Arguments{"--cards", "8", "--link", "eth-10g"}, "--cards: "}}) {
    const Ended refused = run_bench(Arguments{"advise", kCards} + more);
    EXPECT_EQ(refused.code, 2) << message;
    EXPECT_THAT(refused.err, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
}

TEST(Advise, ReadingsMayNameTheRunOfAStandIn) {
  const TemporaryFolder folder;
  const auto readings = folder.path() / "readings.json";
  const auto advise = [&](const std::string& run) {
    const Json json{{"mode", "infer"}, {"step_s", 1}, {"stand_in_run", run}};
    write_file(readings, json.dump());
    return run_bench({"advise", "--observed", readings.string()});
  };
  std::filesystem::copy(kCards, folder.path() / "run.json");
  EXPECT_THAT(advise("run.json").out, HasSubstr("What did a stand-in show? Measured"));
  const std::string workers = kRoot + "results/reference/intel-xeon-2-cores/workers-20ms-cpu.json";
  EXPECT_THAT(advise(workers).err,
              HasSubstr("is of the workers sweep; accepted: a result of bench --sweep cards"));
  const Ended none = advise("none.json");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("stand_in_run: "), HasSubstr("none.json cannot be read")));
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
  const Ended ended =
      Process({"-c", std::string(BENCH_PROGRAM) + " advise --observed - < " + readings.string()},
              std::nullopt, "/bin/sh")
          .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Bottleneck: loader CPU."));
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

TEST(Advise, BrokenNumbersOfAResultAreRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "batch.json").string();
  for (const auto& [pointer, value] : {std::pair{"/params/batch", Json(0)},
                                       {"/params/batch", Json(-1)},
                                       {"/stats/ci95_ns", Json::array({1e300, -1e300})}}) {
    Json json = Json::parse(read_file(kBatchResult));
    json["benchmarks"][0][Json::json_pointer(pointer)] = value;
    write_file(path, json.dump());
    const Ended ended = run_bench({"advise", path});
    EXPECT_EQ(ended.code, 2) << pointer;
    EXPECT_THAT(ended.err, HasSubstr("; accepted: "));
    EXPECT_EQ(lines_in(ended.err).size(), 1U) << ended.err;
  }
}

TEST(Advise, RefusesInOneSentence) {
  const TemporaryFolder folder;
  const std::string readings = (folder.path() / "readings.json").string();
  const std::string out = (folder.path() / "out").string();
  write_file(readings, R"({"stand_in": "gpt"})");
  const std::pair<Arguments, const char*> cases[] = {
      {{}, "no results, readings or network are given; accepted: bench advise "},
      {{"--observed"}, "a value is missing"},
      {{"--observed", "none.json"}, "none.json cannot be read"},
      {{"--observed", folder.path().string()}, "is not a file"},
      {{"--observed", "/dev/zero"}, "is not a file"},
      {{"--observed", readings}, "stand_in: 'gpt' is not known; accepted: "},
      {{"--observed", readings, "--format", "xml"}, "--format: 'xml' is not known"},
      {{"stray.json"}, "stray.json cannot be read"},
      {{"--workload", "resnet18", "--optimizer", "foo", "--out", out},
       "--optimizer: 'foo' was given; accepted"},
      {{"--workload", "resnet18", "--image-size", "0", "--out", out}, "--image-size: "},
      {{"--workload", "resnet18", "--device", "cuda:99", "--out", out}, "--device: there is no device"},
      {{"--workload", "resnet18", "--device", "t4", "--out", out},
       "accepted: auto, cpu, cuda:N; a GPU that is not here is predicted first: bench --sweep batch --mode "
       "train "
       "--device t4"},
      {{"--workload", "resnet18", "--device", "t44", "--out", out},
       "--device: 't44' was given; accepted: auto, cpu, cuda:N\n"},
      {{"--observed", readings, "stray.json"}, "readings are given, and 'stray.json' too"},
  };
  for (const auto& [more, message] : cases) {
    const Ended run = run_bench(Arguments{"advise"} + more);
    EXPECT_EQ(run.code, 2) << message;
    EXPECT_EQ(run.out, "") << message;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_EQ(lines_in(run.err).size(), 1U) << run.err;
  }
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace bench::testing
