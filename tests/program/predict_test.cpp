// bench predict and bench --list --gpus, run as a user would.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

const std::string kTraining = BENCH_TEST_SOURCE_DIR "/tests/golden/documents/batch-train.json";

TEST(Predict, TheWholeCatalogueAsJson) {
  const Ended run = run_bench({"predict", "--gpu", "all", "--workload", "resnet18", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_GE(json["gpus"].size(), 49U);
  EXPECT_EQ(json["predictions"].size(), json["gpus"].size()) << "in fp16";
}

TEST(Predict, ACatalogueThatIsListedIsReadAgain) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "catalogue.json";
  std::ofstream(file) << run_bench({"--list", "--gpus", "--format", "json"}).out;
  const Ended listed = run_bench({"--list", "--gpus"});
  EXPECT_EQ(run_bench({"--list", "--gpus", file}).out, listed.out);
  EXPECT_EQ(run_bench({"--gpus", file}).out, listed.out);
  EXPECT_EQ(run_bench({"--gpus"}).out, listed.out);
}

TEST(PredictCards, FromOneCardsResult) {
  const Arguments predict{"predict", "--from",  kTraining,  "--cards", "2,4",
                          "--link",  "eth-10g", "--format", "json"};
  const Ended run = run_bench(predict);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(schema_errors(run.out, kPredictCardsSchema), "");
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["steps"].size(), 15U) << "of 1, 2 and 4 cards for each of five batches";
  EXPECT_EQ(json["steps"][0]["is_measured"], true);
  // 11.7 M parameters in fp32.
  EXPECT_NEAR(json["steps"][1]["gradient_bytes"].get<double>(), 46.8e6, 0.5e6);
  EXPECT_LT(json["steps"][2]["efficiency"].get<double>(), json["steps"][1]["efficiency"].get<double>());
}

TEST(ListGpus, ALineForEachCard) {
  const Ended run = run_bench({"--list", "--gpus"});
  EXPECT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run_bench({"--list", "--gpus", "--benchmark_format=json"}).out);
  EXPECT_GE(json["gpus"].size(), 49U);
  for (const Json& gpu : json["gpus"]) {
    const std::string start = "\n" + gpu["id"].get<std::string>() + " ";
    const std::size_t at = run.out.find(start);
    EXPECT_NE(at, std::string::npos) << start;
    EXPECT_EQ(run.out.find(start, at + 1), std::string::npos) << start;
  }
}

}  // namespace
}  // namespace bench::testing
