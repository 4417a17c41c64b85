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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  void expect_refused(const Arguments& arguments, const std::string& sentence) {
    const Ended ended = evaluate(arguments);
    EXPECT_EQ(ended.code, 2) << sentence;
    EXPECT_THAT(ended.err, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_TRUE(fs::is_empty(folder_.path()));
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateProgram, PutsMeasuredResultsSideBySide) {
  const Ended ended = evaluate({kIntel, kAmd, kWorkers});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("resnet50 inference: Intel Xeon and AMD EPYC, measured"),
                               HasSubstr("* AMD EPYC is 2."), HasSubstr("Intel Xeon in bf16, at batch"),
                               HasSubstr("The loader makes 1354 ± 56 samples/s on 2 cores")));
  const fs::path written = folder_.path() / "evaluate-resnet50-infer-Intel-Xeon-vs-AMD-EPYC.json";
  EXPECT_EQ(schema_errors(read_file(written), kEvaluateSchema), "");
}

TEST_F(EvaluateProgram, HasFormatsForOtherPrograms) {
  EXPECT_THAT(
      evaluate({kIntel, kAmd, "--format", "csv"}).out,
      AllOf(StartsWith("device,predicted,framework,dtype,batch,"), HasSubstr("\nAMD EPYC,no,bench,bf16,1,")));
  EXPECT_THAT(evaluate({kIntel, kAmd, "--format", "markdown"}).out,
              AllOf(StartsWith("### resnet50 inference"), HasSubstr("| --- |")));
  EXPECT_EQ(evaluated({kIntel, kAmd})["devices"].size(), 2U);
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

TEST_F(EvaluateProgram, LeavesOutACardThatCannotHoldTheNetwork) {
  const Arguments asked{"--workload", "resnet18", "--batch", "4096"};
  const Ended ended = evaluate(Arguments{"--gpu", "gtx960,h200"} + asked);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("gtx960 is left out: needs"));
  const Ended none = evaluate(Arguments{"--gpu", "gtx960"} + asked);
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("gtx960 is left out: needs"));
}

TEST_F(EvaluateProgram, RefusesWhatIsWrongInOneSentence) {
  expect_refused({}, "no result of a batch sweep and no --gpu is given");
  expect_refused({kWorkers}, "no result of a batch sweep and no --gpu is given");
  expect_refused({kIntel, kWorkers, kWorkers}, "a second result of the workers sweep");
  expect_refused({kIntel, kReference + "intel-xeon-2-cores/memory-resnet18-cpu.json"},
                 "result of the 'memory' sweep");
  expect_refused({kIntel, "--gpu", "t4", "--workload", "resnet18"}, "the workload is 'resnet18', but");
  expect_refused({kIntel, "--gpu", "t4", "--workload", "resnet50", "--mode", "train"},
                 "the mode is 'train', but");
  expect_refused({kIntel, "--workload", "resnet50"}, "--workload: it belongs to GPUs that are predicted");
  expect_refused({"--gpu", "t5", "--workload", "resnet50"}, "--gpu: ");
  expect_refused({"--gpu", "t4,T4", "--workload", "resnet50"}, "--gpu: 't4,T4' names t4 twice");
  expect_refused({"--gpu", "t4", "--workload", "resnet5"}, "did you mean resnet50?");
  expect_refused({kIntel, "--price", "cpu=0.35"}, "may be hire or purchase");
  expect_refused({kIntel, "--price", "t4=0.35/h"}, "--price: 't4' is not known; accepted: Intel Xeon");
  expect_refused({kIntel, "--years", "2"}, "--years: it changes prices, and --price is not given");
  expect_refused({kIntel, "--price", "cpu=1/h", "--hours-a-day", "25"},
                 "--hours-a-day: '25' is not accepted");
  expect_refused({kIntel, "--format", "xml"}, "--format: 'xml' is not known");
  expect_refused({"no such file.json"}, "no such file.json");
}

}  // namespace
}  // namespace bench::testing
