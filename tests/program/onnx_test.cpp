// An ONNX file in place of a workload, and `bench inspect`, as a user runs them.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>

#include "bench/json.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
namespace written = kernels::onnx::written;
using kernels::onnx::OnnxWriter;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Images in three classes; the file fixes batch 1, and a size below 0 is free.
OnnxWriter classifier(std::int64_t filters = 4, std::int64_t size = 8) {
  OnnxWriter net;
  net.input("images", {1, 3, size, size});
  net.weight("w", {filters, 3, 3, 3});
  net.weight("b", {filters});
  net.weight("scores.w", {3, filters});
  net.weight("scores.b", {3});
  net.node("Conv", {"images", "w", "b"}, {"conv"}, {written::ints("pads", {1, 1, 1, 1})});
  net.node("Relu", {"conv"}, {"relu"});
  net.node("GlobalAveragePool", {"relu"}, {"pooled"});
  net.node("Flatten", {"pooled"}, {"flat"});
  net.node("Gemm", {"flat", "scores.w", "scores.b"}, {"scores"}, {written::i("transB", 1)});
  net.output("scores", {1, 3});
  return net;
}

class Onnx : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const OnnxWriter& net = classifier()) const {
    const fs::path path = folder_.path() / "nets" / name;
    fs::create_directories(path.parent_path());
    net.save(path.string());
    return path;
  }
  std::string out() const { return (folder_.path() / "out").string(); }
  Arguments sweep(const std::string& name, const fs::path& path, const Arguments& more = {}) const {
    return Arguments{"--sweep", name,   "--onnx",    path.string(), "--device", "cpu",
                     "--dtype", "fp32", "--no-plot", "--no-cache",  "--out",    out()} +
           more;
  }
  // The only result there is.
  fs::path result() const {
    std::vector<std::string> names = TemporaryFolder::names_in(out());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".json"); });
    EXPECT_EQ(names.size(), 1U);
    return names.empty() ? fs::path() : fs::path(out()) / names.front();
  }

  TemporaryFolder folder_;
};

const Arguments kShort = Arguments{"--batch", "1,2"} + rounds(3);

TEST_F(Onnx, IsAWorkloadLikeAnyOther) {
  const fs::path path = file("net.onnx");
  const Ended ended = run_bench(sweep("batch", path, kShort));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(schema_errors(read_file(result())), "");
  const ResultDocument document = read_result(result());
  ASSERT_TRUE(document.context.workload_file);
  const WorkloadFile& read = *document.context.workload_file;
  EXPECT_EQ(read.path, path.string());
  EXPECT_EQ(read.name, "net");
  EXPECT_THAT(read.hash, MatchesRegex("[0-9a-f]{8}"));
  EXPECT_EQ(document.sweep.workload, "net-" + read.hash);
  EXPECT_EQ(result().filename(), "batch-net-" + read.hash + "-cpu.json");
  EXPECT_EQ(document.sweep.workload_options.at("input"), "images=1x3x8x8");
  ASSERT_EQ(document.points.size(), 2U);
  EXPECT_EQ(document.points[1].name, "batch/net-" + read.hash + "/infer/fp32/batch:2");
  EXPECT_EQ(document.points[1].memory.peak_measured, document.points[1].memory.peak_predicted);
  for (const Point& point : document.points) {
    EXPECT_TRUE(point.verification && point.verification->passed) << point.name;
  }
}

TEST_F(Onnx, IsTrained) {
  const Ended ended = run_bench(
      sweep("batch", file("net.onnx"), kShort + Arguments{"--mode", "train", "--optimizer", "adam"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = read_result(result());
  EXPECT_EQ(document.sweep.workload_options.at("optimizer"), "adam");
  ASSERT_EQ(document.points.size(), 2U);
  EXPECT_GT(document.points[0].memory.by_category[MemoryCategory::optimizer], 0);
}

// Of the kernels sweep a point each mode and dtype; of the transfer sweep the steps that copies are
// overlapped with.
TEST_F(Onnx, EverySweepTakesIt) {
  const fs::path path = file("net.onnx");
  for (const char* const name : {"batch", "memory", "kernels", "transfer", "workers"}) {
    const Ended ended = run_bench(sweep(name, path, {"--dry-run"}));
    EXPECT_EQ(ended.code, 0) << name << ended.err;
    EXPECT_NE(ended.out, "") << name;
  }
  const std::string memory = run_bench(sweep("memory", path, {"--batch", "4", "--benchmark_list_tests"})).out;
  EXPECT_THAT(memory,
              AllOf(HasSubstr("/infer/fp32/batch:4"), HasSubstr("/train/fp32/optimizer:sgd/batch:4")));
}

TEST_F(Onnx, InputSizesAreSetAndTellResultsApart) {
  const fs::path path = file("net.onnx", classifier(4, -1));
  const Ended ended = run_bench(sweep("batch", path, kShort + Arguments{"--input", "1x3x16x16"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read_result(result()).sweep.workload_options.at("input"), "images=1x3x16x16");
  const Ended resumed =
      run_bench(sweep("batch", path, kShort + Arguments{"--resume", "--input", "images=1x3x8x8"}));
  EXPECT_EQ(resumed.code, 2);
  expect_words(without_path(resumed.err, folder_.path()));
}

TEST_F(Onnx, AnotherGraphIsNeitherResumedNorCompared) {
  const fs::path path = file("net.onnx");
  ASSERT_EQ(run_bench(sweep("batch", path, kShort)).code, 0);
  const std::string before = result().string();
  EXPECT_EQ(run_bench(sweep("batch", path, kShort + Arguments{"--resume"})).code, 0);

  classifier(8).save(path.string());
  const Ended resumed = run_bench(sweep("batch", path, kShort + Arguments{"--resume"}));
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(resumed.err,
              AllOf(HasSubstr("--resume: the graph of '"), HasSubstr("has changed"), HasSubstr(before)));
  ASSERT_EQ(run_bench(sweep("batch", path, kShort)).code, 0);
  std::string after;
  for (const auto& entry : fs::directory_iterator(out())) {
    after = entry.path() != before && entry.path().extension() == ".json" ? entry.path().string() : after;
  }
  const Ended compared = run_bench({"compare", before, "--", after});
  EXPECT_EQ(compared.code, 4);
  EXPECT_THAT(compared.err, HasSubstr("the graph of 'net' differs between BASE ("));
}

TEST_F(Onnx, NamesOfFilesMayHoldAnything) {
  for (const std::string& name :
       {std::string("my net (1).onnx"), std::string("r\xc3\xa9seau \xe6\xa8\xa1\xe5\x9e\x8b.onnx"),
        std::string("--batch.onnx"), std::string("'$(touch x)'\n\x1b[31m.onnx"), std::string("bad\xff.onnx"),
        std::string(200, 'n') + ".onnx", std::string("no ending")}) {
    const fs::path path = file(name);
    const Ended ended = run_bench(sweep("batch", path, kShort));
    EXPECT_EQ(ended.code, 0) << name << ended.err;
    EXPECT_THAT(ended.out + ended.err, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))));
    EXPECT_THAT(result().filename().string(), MatchesRegex("batch-[A-Za-z0-9_.-]+-[0-9a-f]{8}-cpu.json"));
    EXPECT_LT(result().filename().string().size(), 100U);
    EXPECT_EQ(schema_errors(read_file(result())), "");
    fs::remove_all(out());
  }
}

TEST_F(Onnx, AFileThatIsLockedIsRefused) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads it all the same";
  }
  const fs::path path = file("locked.onnx");
  fs::permissions(path, fs::perms::none);
  for (const Arguments& arguments : {sweep("batch", path), Arguments{"inspect", path}}) {
    const Ended ended = run_bench(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  }
}

TEST_F(Onnx, InspectShowsWhatANetworkIsMadeOf) {
  const fs::path path = file("net.onnx");
  const Ended json = run_bench({"inspect", path.string(), "--batch", "1,8", "--format", "json"});
  const Json report = Json::parse(json.out);
  EXPECT_EQ(report["parameters"], 4 * 27 + 4 + 3 * 4 + 3);
  EXPECT_EQ(report["macs"], 4 * 27 * 64 + 12);
  EXPECT_EQ(report["activations"], 4 * 64 + 3);
  ASSERT_EQ(report["memory"].size(), 4U);
  // The plan is that of a sweep's points.
  const std::string points = run_bench(sweep("memory", path, {"--batch", "8", "--benchmark_list_tests"})).out;
  EXPECT_THAT(points, HasSubstr("/infer/fp32/batch:8"));
  const Ended run = run_bench(sweep("batch", path, Arguments{"--batch", "8"} + rounds(3)));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(report["memory"][1]["total"], read_result(result()).points[0].memory.peak_measured);
}

TEST(Inspect, TakesTheNamesOfNetworks) {
  const Ended ended = run_bench({"inspect", "resnet18", "--image-size", "64", "--batch", "1", "--mode",
                                 "train", "--optimizer", "adam", "--format", "json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json report = Json::parse(ended.out);
  EXPECT_EQ(report["parameters"], 11'689'512);
  ASSERT_EQ(report["memory"].size(), 1U);
  EXPECT_GE(report["memory"][0]["optimizer"], 2 * 4 * 11'689'512);
}

}  // namespace
}  // namespace bench::testing
