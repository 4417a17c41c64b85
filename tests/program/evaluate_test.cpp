// `bench evaluate` as a user runs it: results, GPUs that are not here, and input that is wrong.
#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kReference = BENCH_TEST_SOURCE_DIR "/results/reference/";
const std::string kIntel = kReference + "intel-xeon-2-cores/batch-resnet50-cpu.json";
const std::string kAmd = kReference + "amd-epyc-2-cores/batch-resnet50-cpu.json";
const std::string kWorkers = kReference + "intel-xeon-2-cores/workers-20ms-cpu.json";

class EvaluateProgram : public ::testing::Test {
 protected:
  Ended evaluate(const Arguments& arguments) {
    return run_bench(Arguments{"evaluate", "--no-plot", "--out", folder_.path().string()} + arguments);
  }
  // What it prints with --format json, which is also what it writes.
  Json evaluated(const Arguments& arguments) {
    const Ended ended = evaluate(Arguments{"--format", "json"} + arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(schema_errors(ended.out, kEvaluateSchema), "");
    return Json::parse(ended.out, nullptr, false);
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateProgram, NamesItsFileByTheDevices) {
  const Ended ended = evaluate({kIntel, kAmd, kWorkers});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const fs::path written = folder_.path() / "evaluate-resnet50-infer-Intel-Xeon-vs-AMD-EPYC.json";
  EXPECT_EQ(schema_errors(read_file(written), kEvaluateSchema), "");
}

TEST_F(EvaluateProgram, PredictsGpusThatAreNotHere) {
  const Json json =
      evaluated({"--gpu", "t4,rtx3060-12gb", "--workload", "resnet18", "--dtype", "fp32,fp16", "--batch",
                 "1,8,64", "--price", "t4=$0.35/h,rtx3060-12gb=280", "--kwh", "0.3"});
  const Json& other = json["devices"][1];
  EXPECT_EQ(json["devices"][0]["label"], "t4");
  EXPECT_TRUE(other["predicted"].get<bool>());
  EXPECT_EQ(other["framework"], "pytorch");
  for (const Json& curve : other["curves"]) {
    const Json& at = curve["saturation"];
    const Json& interval = at["ratio"]["interval"];
    // Errors that both cards share cancel: narrower than from the ends of both throughputs.
    const Json& first =
        json["devices"][0]["curves"][curve["dtype"] == "fp32" ? 0 : 1]["saturation"]["interval"];
    EXPECT_LT(interval[1].get<double>(), at["interval"][1].get<double>() / first[0].get<double>());
    EXPECT_EQ(at["ratio"]["level"], 0.8);
    EXPECT_GT(at["cost_per_million"], 0);
    EXPECT_GT(at["peak_share"], 0);
    EXPECT_LT(at["peak_share"], 1);
    EXPECT_GT(curve["largest_batch"], 64);
  }
  EXPECT_EQ(json["answers"][0]["question"], "speed");
}

TEST_F(EvaluateProgram, SaysOfAPredictedFileWhatItSaysOfTheCard) {
  const Arguments asked{"--workload", "resnet18", "--dtype", "fp16", "--batch", "1,8"};
  EXPECT_EQ(run_bench(Arguments{"--sweep", "batch", "--device", "t4", "--no-plot", "--out",
                                folder_.path().string()} +
                      asked)
                .code,
            0);
  const std::string file = (folder_.path() / "batch-resnet18-t4-predicted.json").string();
  Json from_file = evaluated({file});
  Json from_card = evaluated(Arguments{"--gpu", "t4"} + asked);
  for (Json* const json : {&from_file, &from_card}) {
    json->erase("context");
    (*json)["devices"][0].erase("files");
  }
  EXPECT_EQ(from_file, from_card);
  EXPECT_EQ(evaluated(Arguments{file, "--gpu", "rtx3060-12gb"} + asked)["devices"].size(), 2U);
}

// cuDNN's plans take seconds a card and leave the total as it is: a sweep asks for them, and warns here.
TEST_F(EvaluateProgram, PlansNoWorkspaces) {
  const Json json =
      evaluated({"--gpu", "t4", "--workload", "resnet18", "--dtype", "fp16", "--batch", "2048"});
  EXPECT_THAT(json["devices"][0]["caveats"].dump(), Not(HasSubstr("cuDNN plans")));
}

}  // namespace
}  // namespace bench::testing
