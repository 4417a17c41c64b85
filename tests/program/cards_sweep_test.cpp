// bench --sweep cards under the launchers of both MPIs, on a small network. Skipped for an MPI that is not
// installed.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bench/host/process_memory.h"
#include "bench/run/result_file.h"
#include "bench/text/units.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/program/launchers.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;

Arguments cards_run(const std::filesystem::path& out) {
  return rounds(3) + Arguments{"--sweep",      "cards",   "--device",  "cpu",          "--workload",
                               "resnet18",     "--batch", "4",         "--image-size", "64",
                               "--accumulate", "2",       "--bucket",  "1MiB",         "--no-plot",
                               "--no-cache",   "--out",   out.string()};
}

class CardsSweepProgram : public ::testing::TestWithParam<Mpi> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }

  const TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Mpi, CardsSweepProgram, ::testing::Values(kOpenMpi, kMpich),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(CardsSweepProgram, OneFileHasEveryRanksTimesAndThePlannedMemory) {
  const Ended ended = run_script(launch_of(GetParam(), 3) + "\"$@\"", cards_run(folder_.path()));
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const auto file = folder_.path() / "cards-resnet18-3-ranks-cpu.json";
  EXPECT_EQ(schema_errors(read_file(file)), "");
  const ResultDocument document = read_result(file);
  ASSERT_EQ(measured_points(document).size(), 3U);
  for (const Point& point : measured_points(document)) {
    const auto ranks = point.params.at("ranks").get<std::size_t>();
    EXPECT_TRUE(point.verification.value().passed) << point.name;
    EXPECT_EQ(point.items_per_step, 4.0 * static_cast<double>(ranks));
    ASSERT_EQ(point.notes.size(), point.samples_ns.size());
    const Json note = point.notes.front()->to_json();
    EXPECT_EQ(note.at("step_ns").size(), ranks);
    EXPECT_EQ(note.at("peak_bytes"), note.at("plan_bytes")) << point.name;
    ASSERT_EQ(point.memory.by_rank.size(), ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(point.memory.by_rank[rank].total(), note.at("peak_bytes").at(rank)) << point.name;
      EXPECT_GT(point.memory.by_rank[rank][MemoryCategory::weights], 4 * 11'000'000);
    }
    if (ranks > 1) {
      EXPECT_THAT(note.at("waited_ns").get<std::vector<double>>(), Contains(Gt(0)));
    }
  }
  EXPECT_EQ(std::ranges::count(document.findings, "efficiency/ranks:3/batch:4", &Finding::name), 1);
  EXPECT_THAT(document.context.software.at("mpi"),
              ::testing::StartsWith(GetParam().name == kOpenMpi.name ? "Open MPI v" : "MPICH"));
  ASSERT_EQ(modelled_points(document).size(), 2U * 2)
      << "of 2 and 3 ranks, gradients and parameters shared out";
  for (const Point& point : modelled_points(document)) {
    EXPECT_EQ(point.origin, Origin::planned);
    EXPECT_EQ(point.memory.by_category.total(), point.peak()) << point.name;
  }
  if (own_memory_bytes()) {
    const Json& library = document.sweep.state.at("cards").at("library");
    EXPECT_EQ(library.at("summed_bytes"), 1 << 20);
    EXPECT_THAT(library.at("joining_bytes").get<std::vector<std::int64_t>>(), Each(Gt(100'000)));
    EXPECT_EQ(library.at("summing_bytes").size(), 3U);
  }
  const Ended predicted =
      run_bench({"predict", "--from", file.string(), "--cards", "4", "--link", "eth-10g"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
}

// Each of two ranks has half of the cap, which lies between what the plans of batch 4 and of batch 64 take:
// how much that is depends on the processor's layouts.
TEST_P(CardsSweepProgram, ACapIsSharedByTheRanksOfAHostAndAPointBeyondItIsRefused) {
  Arguments arguments = cards_run(folder_.path()) + Arguments{"--cards", "2"};
  *std::ranges::find(arguments, "4") = "4,64";
  const Ended planned = run_script("exec \"$@\"", arguments + Arguments{"--dry-run", "--format", "json"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  const Json points = Json::parse(planned.out).at("points");
  ASSERT_EQ(points.size(), 2U) << planned.out;
  const auto small = points.at(0).at("memory_bytes").get<std::int64_t>();
  const auto large = points.at(1).at("memory_bytes").get<std::int64_t>();
  ASSERT_LT(small, large);
  const std::int64_t cap = (small + large) / 2;
  const Ended ended = run_script(launch_of(GetParam(), 2) + "\"$@\"",
                                 arguments + Arguments{"--memory-cap", std::to_string(2 * cap) + "B"});
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("memory cap " + format_bytes(cap) + " a"));
  const ResultDocument document = read_result(folder_.path() / "cards-resnet18-2-ranks-cpu.json");
  ASSERT_EQ(measured_points(document).size(), 1U);
  ASSERT_EQ(document.unmeasured.size(), 1U);
  EXPECT_EQ(document.unmeasured.front().status, "oom");
  EXPECT_THAT(document.unmeasured.front().reason, HasSubstr("the memory cap is " + format_bytes(cap)));
}

// As PyTorch trains them. Batch norm refuses one value alone.
TEST_P(CardsSweepProgram, RanksTrainWithTwoValuesOfEachChannel) {
  const Ended ended =
      run_script(launch_of(GetParam(), 2) + "\"$@\"",
                 rounds(3) + Arguments{"--sweep", "cards", "--device", "cpu", "--workload", "resnet18",
                                       "--image-size", "32", "--batch", "2", "--no-plot", "--no-cache",
                                       "--out", folder_.path().string()});
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const ResultDocument document = read_result(folder_.path() / "cards-resnet18-2-ranks-cpu.json");
  ASSERT_EQ(measured_points(document).size(), 2U);
  for (const Point& point : measured_points(document)) {
    EXPECT_TRUE(point.verification.value().passed) << point.name << point.verification.value().detail;
  }
}

// A small network, so that ranks which take turns on few cores end soon.
TEST_P(CardsSweepProgram, EightRanksTrainTogether) {
  namespace written = kernels::onnx::written;
  kernels::onnx::OnnxWriter net;
  net.input("images", {1, 3, 16, 16});
  net.weight("w", {64, 3, 3, 3});
  net.weight("b", {64});
  net.weight("scores.w", {1000, 64});
  net.weight("scores.b", {1000});
  net.node("Conv", {"images", "w", "b"}, {"conv"}, {written::ints("pads", {1, 1, 1, 1})});
  net.node("Relu", {"conv"}, {"relu"});
  net.node("GlobalAveragePool", {"relu"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"flat"});
  net.node("Gemm", {"flat", "scores.w", "scores.b"}, {"scores"}, {written::i("transB", 1)});
  net.output("scores", {1, 1000});
  const std::filesystem::path path = folder_.path() / "net.onnx";
  net.save(path.string());
  const Ended ended =
      run_script(launch_of(GetParam(), 8) + "\"$@\"",
                 rounds(3) + Arguments{"--sweep", "cards", "--device", "cpu", "--onnx", path.string(),
                                       "--batch", "4", "--cards", "8", "--bucket", "64KiB", "--no-plot",
                                       "--no-cache", "--out", folder_.path().string()});
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const std::vector<std::string> files = folder_.names();  // the network and the result, named by its graph
  const auto result = std::ranges::find_if(
      files, [](const std::string& name) { return name.ends_with("-8-ranks-cpu.json"); });
  ASSERT_NE(result, files.end());
  const ResultDocument document = read_result(folder_.path() / *result);
  ASSERT_EQ(measured_points(document).size(), 1U);
  const Point& point = measured_points(document).front();
  EXPECT_TRUE(point.verification.value().passed);
  EXPECT_THAT(point.verification.value().detail, HasSubstr("the summed gradients of 8 ranks"));
  EXPECT_EQ(point.items_per_step, 32);
  const Json note = point.notes.front()->to_json();
  EXPECT_EQ(note.at("step_ns").size(), 8U);
  EXPECT_EQ(note.at("peak_bytes"), note.at("plan_bytes"));
}

// One rank and the most are measured once, however long that takes; what was not is named.
TEST_P(CardsSweepProgram, AShortBudgetHasOneRankAndTheMost) {
  Arguments arguments = cards_run(folder_.path()) + Arguments{"--cards", "1,2,3"};
  *std::ranges::find(arguments, "60min") = "100ms";
  const Ended ended = run_script(launch_of(GetParam(), 3) + "\"$@\"", arguments);
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  const ResultDocument document = read_result(folder_.path() / "cards-resnet18-3-ranks-cpu.json");
  ASSERT_EQ(measured_points(document).size(), 2U);
  EXPECT_EQ(measured_points(document).front().params.at("ranks"), 1);
  EXPECT_EQ(measured_points(document).back().params.at("ranks"), 3);
  EXPECT_THAT(measured_points(document).front().verification.value().not_checked,
              HasSubstr("the time budget has no room for it"));
  EXPECT_TRUE(measured_points(document).front().verification.value().passed);
  ASSERT_EQ(document.unmeasured.size(), 1U);
  EXPECT_THAT(document.unmeasured.front().name, ::testing::EndsWith("resnet18/train/fp32/ranks:2/batch:4"));
}

// Which the first rank would not have heard of.
TEST_P(CardsSweepProgram, ASignalToAnotherRankAloneEndsTheRunAndItsRankIsNamed) {
  const std::filesystem::path file = folder_.path() / "cards-resnet18-2-ranks-cpu.json";
  Arguments arguments = cards_run(folder_.path());
  *std::ranges::find(arguments, "--benchmark_repetitions=3") = "--benchmark_repetitions=10000";
  const Ended ended =
      run_script(launch_of(GetParam(), 2) + "sh -c 'if [ $" + GetParam().rank_variable +
                     " = 1 ]; then \"$@\" & rank=$!; until [ -s " + file.string() +
                     " ]; do sleep 0.2; done; kill -TERM $rank; wait $rank; else exec \"$@\"; fi' sh \"$@\"",
                 arguments);
  EXPECT_EQ(ended.code, 130) << ended.err << ended.out;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("bench: rank 1 was interrupted"),
                               HasSubstr("interrupted; what was measured is saved")));
  EXPECT_FALSE(read_result(file).points.empty());
}

TEST_P(CardsSweepProgram, RanksThatShareTheOptimizerHoldLess) {
  const Ended ended = run_script(
      launch_of(GetParam(), 3) + "\"$@\"",
      cards_run(folder_.path()) + Arguments{"--optimizer", "adam", "--shard", "optimizer", "--cards", "1,3"});
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const ResultDocument document = read_result(folder_.path() / "cards-resnet18-3-ranks-cpu.json");
  ASSERT_EQ(measured_points(document).size(), 2U);
  std::map<int, std::int64_t> peaks;
  for (const Point& point : measured_points(document)) {
    EXPECT_TRUE(point.verification.value().passed) << point.name;
    const Json note = point.notes.front()->to_json();
    EXPECT_EQ(note.at("peak_bytes"), note.at("plan_bytes")) << point.name;
    peaks[point.params.at("ranks").get<int>()] = note.at("peak_bytes").at(0).get<std::int64_t>();
    EXPECT_EQ(point.params.value("shard", "none"), point.params.at("ranks") == 3 ? "optimizer" : "none");
  }
  // Two thirds of Adam's two states of 11.7 M parameters.
  EXPECT_NEAR(static_cast<double>(peaks[1] - peaks[3]), 2.0 / 3 * 2 * 4 * 11.69e6, 1e6);
  ASSERT_EQ(modelled_points(document).size(), 2U) << "gradients and parameters shared out too";
  for (const Point& point : modelled_points(document)) {
    EXPECT_EQ(point.origin, Origin::planned);
    EXPECT_EQ(point.prediction.model.at("basis"), "planned, never run");
    EXPECT_LT(point.peak(), peaks[3]) << point.name;
  }
}

Arguments stages_run(const std::filesystem::path& out) {
  return rounds(3) + Arguments{"--sweep", "cards", "--device",     "cpu",        "--workload", "resnet18",
                               "--batch", "4",     "--image-size", "64",         "--split",    "layers",
                               "--mode",  "infer", "--no-plot",    "--no-cache", "--out",      out.string()};
}

TEST_P(CardsSweepProgram, LayersOverRanksHoldLessAndAnswerRightly) {
  const Ended ended =
      run_script(launch_of(GetParam(), 2) + "\"$@\"",
                 stages_run(folder_.path()) + Arguments{"--micro-batches", "1,4", "--cards", "1,2"});
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const auto file = folder_.path() / "cards-resnet18-2-ranks-cpu.json";
  EXPECT_EQ(schema_errors(read_file(file)), "");
  const ResultDocument document = read_result(file);
  ASSERT_EQ(measured_points(document).size(), 3U);
  std::int64_t alone = 0;
  for (const Point& point : measured_points(document)) {
    EXPECT_TRUE(point.verification.value().passed) << point.name;
    EXPECT_EQ(point.items_per_step, 4);
    const Json note = point.notes.front()->to_json();
    EXPECT_EQ(note.at("peak_bytes"), note.at("plan_bytes")) << point.name;
    const auto peaks = note.at("peak_bytes").get<std::vector<std::int64_t>>();
    alone = peaks.size() == 1 ? peaks.front() : alone;
    EXPECT_TRUE(peaks.size() == 1 || std::ranges::max(peaks) < alone) << point.name;
  }
  EXPECT_EQ(std::ranges::count(document.findings, "efficiency/split:layers/ranks:2/micro-batches:4/batch:4",
                               &Finding::name),
            1);
}

TEST_P(CardsSweepProgram, StagesTrainWithTheNetworksGradients) {
  Arguments arguments = stages_run(folder_.path()) +
                        Arguments{"--micro-batches", "1,2", "--balance", "memory", "--optimizer", "momentum"};
  *std::ranges::find(arguments, "infer") = "train";
  const Ended ended = run_script(launch_of(GetParam(), 2) + "\"$@\"", arguments);
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const auto file = folder_.path() / "cards-resnet18-2-ranks-cpu.json";
  EXPECT_EQ(schema_errors(read_file(file)), "");
  const ResultDocument document = read_result(file);
  ASSERT_EQ(measured_points(document).size(), 3U);
  for (const Point& point : measured_points(document)) {
    EXPECT_TRUE(point.verification.value().passed) << point.name << point.verification.value().detail;
    EXPECT_EQ(point.items_per_step, 4);
    const Json note = point.notes.front()->to_json();
    EXPECT_EQ(note.at("peak_bytes"), note.at("plan_bytes")) << point.name;
  }
  EXPECT_EQ(std::ranges::count(document.findings, "micro-batches", &Finding::name), 1);
}

TEST_P(CardsSweepProgram, WrongStagesAreOneSentence) {
  const Arguments few_layers{"--sweep", "cards",  "--device", "cpu",   "--workload", "embedding_classifier",
                             "--split", "layers", "--mode",   "infer", "--out",      folder_.path().string()};
  const Arguments resnet = stages_run(folder_.path());
  for (const auto& [arguments, sentence] :
       {std::pair(resnet + Arguments{"--micro-batches", "3"}, "--micro-batches: '3' was given"),
        std::pair(resnet + Arguments{"--shard", "optimizer"},
                  "--shard: 'optimizer' was given with --split layers"),
        std::pair(few_layers, "embedding_classifier can be cut into at most")}) {
    const Ended ended = run_script(launch_of(GetParam(), 5) + "\"$@\"", arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find(sentence), std::string::npos) << ended.err;
    EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_P(CardsSweepProgram, MoreCardsThanRanksIsOneSentence) {
  const Ended ended =
      run_script(launch_of(GetParam(), 2) + "\"$@\"", cards_run(folder_.path()) + Arguments{"--cards", "4"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  const std::string sentence = "--cards: '4' was given; accepted: up to 2";
  EXPECT_THAT(ended.err, HasSubstr(sentence));
  EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST(CardsSweepAlone, PrintsTheCommandToType) {
  const Ended alone = run_bench({"--sweep", "cards", "--device", "cpu"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("-n 2 "), HasSubstr("--sweep cards --device cpu")));
}

}  // namespace
}  // namespace bench::testing
