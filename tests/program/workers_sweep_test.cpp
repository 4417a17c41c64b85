// bench --sweep workers, as a user runs it, on few small images.
#include <csignal>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"
#include "tests/sweeps/workers/loader/jpegs.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void write_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class WorkersSweepProgram : public ::testing::Test {
 protected:
  WorkersSweepProgram() {
    for (int i = 0; i < 12; ++i) {
      write_bytes(data() / "class" / ("image" + std::to_string(i) + ".jpg"),
                  loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
  }
  std::filesystem::path data() const { return folder_.path() / "data"; }
  Arguments run_of(const std::string& consumer, const std::string& workers = "1", int round_count = 3) const {
    return rounds(round_count) +
           Arguments{"--sweep",      "workers", "--device", "cpu", "--data",    data().string(),
                     "--image-size", "32",      "--batch",  "2",   "--workers", workers,
                     "--consumer",   consumer,  "--out",    out()};
  }
  std::string out() const { return (folder_.path() / "out").string(); }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / "out" / name; }

  TemporaryFolder folder_;
};

// Making the program's own images takes longer than this budget, on any machine.
TEST_F(WorkersSweepProgram, MakesImagesOutsideOfTheTimeBudgetAndWithoutAHomeForThisRun) {
  const std::filesystem::path temporary = folder_.path() / "tmp";
  std::filesystem::create_directory(temporary);
  const Ended ended = Process({"-u",
                               "HOME",
                               "-u",
                               "XDG_CACHE_HOME",
                               "TMPDIR=" + temporary.string(),
                               BENCH_PROGRAM,
                               "--sweep",
                               "workers",
                               "--device",
                               "cpu",
                               "--consumer",
                               "5ms",
                               "--workers",
                               "1",
                               "--batch",
                               "2",
                               "--time-budget",
                               "1s",
                               "--no-plot",
                               "--out",
                               out()},
                              std::nullopt, "/usr/bin/env")
                          .wait();
  EXPECT_THAT(ended.err, HasSubstr("making synthetic images"));
  EXPECT_FALSE(read_result(file("workers-5ms-cpu.json")).points.empty()) << ended.out << ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST_F(WorkersSweepProgram, AnswersFromImagesToAKnee) {
  const Ended ended =
      run_bench(run_of("1ms", "0,1,2") + Arguments{"--demand", "t4=1128/s,fast=1000000000/s"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(schema_errors(read_file(file("workers-1ms-cpu.json"))), "");
  const ResultDocument document = read_result(file("workers-1ms-cpu.json"));
  for (const UnmeasuredPoint& point : document.unmeasured) {
    ADD_FAILURE() << point.name << ": " << point.reason;
  }
  for (const Point& point : document.points) {
    EXPECT_EQ(point.notes.size(), point.samples_ns.size()) << point.name;
    EXPECT_LT(point.verification->error, point.verification->tolerance) << point.name;
  }
  EXPECT_TRUE(document.sweep.state.contains("profile"));
  EXPECT_TRUE(document.context.peaks.empty());  // a stretch of time computes nothing
  EXPECT_FALSE(document.findings.empty());
  EXPECT_TRUE(std::filesystem::exists(file("workers-1ms-cpu.svg")));

  // From its profile alone: neither data nor measuring.
  std::filesystem::remove_all(data());
  const Ended simulated = run_bench({"--sweep", "workers", "--simulate", "--profile",
                                     file("workers-1ms-cpu.json").string(), "--workers", "1,2,64", "--cores",
                                     "16", "--gpus", "2", "--demand", "t4=1128/s", "--out", out()});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(schema_errors(read_file(file("workers-simulated-1ms-cpu-cpu.json"))), "");

  // The consumer is a GPU that is not here.
  const Ended predicted =
      run_bench({"--sweep", "workers", "--simulate", "--profile", file("workers-1ms-cpu.json").string(),
                 "--device", "t4", "--workload", "resnet18", "--no-plot", "--out", out()});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const std::string path = file("workers-simulated-1ms-cpu-t4-predicted.json").string();
  EXPECT_EQ(schema_errors(read_file(path)), "");
  const ResultDocument fed = read_result(path);
  EXPECT_EQ(fed.sweep.state.at("simulated").at("demands").size(), 2U) << "as predicted, and at its fast end";
  for (const Finding& finding : fed.findings) {
    const bool is_of_profile = finding.name == "stages" || finding.name == "scaling";
    EXPECT_NE(finding.claim.starts_with("Predicted: "), is_of_profile) << finding.claim;
  }
}

TEST_F(WorkersSweepProgram, ANetworkIsFed) {
  const Ended ended =
      run_bench(run_of("workload") + Arguments{"--workload", "mobilenet_v2", "--no-plot", "--order", "any"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = read_result(file("workers-mobilenet_v2-cpu.json"));
  EXPECT_EQ(document.sweep.state.at("loader").at("consumer_on_cores"), true);
  for (const UnmeasuredPoint& point : document.unmeasured) {
    ADD_FAILURE() << point.name << ": " << point.reason;
  }
}

TEST_F(WorkersSweepProgram, BadFilesAreCountedNamedAndSkipped) {
  std::ofstream(data() / "class" / "text.jpg") << "not a picture";
  std::ofstream(data() / "class" / "empty.jpg").close();
  std::ofstream(data() / "class" / "two\nlines\x1b[31m.jpg") << "not a picture";
  const Ended ended = run_bench(run_of("1ms") + Arguments{"--no-plot"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out + ended.err, AllOf(HasSubstr("text.jpg"), HasSubstr("empty.jpg"),
                                           HasSubstr("3 files"), HasSubstr("two\\nlines\\x1b[31m.jpg")));
}

TEST_F(WorkersSweepProgram, NoImageThatCanBeUsedIsWrongUsage) {
  std::filesystem::remove_all(data());
  std::filesystem::create_directories(data());
  std::ofstream(data() / "text.jpg") << "not a picture";
  EXPECT_EQ(run_bench(run_of("1ms")).code, 2);
}

TEST_F(WorkersSweepProgram, FewerImagesThanABatchAreTakenAgain) {
  std::filesystem::remove_all(data());
  write_bytes(data() / "only.jpg", loader::make_jpeg({}));
  const Ended ended = run_bench(run_of("1ms") + Arguments{"--no-plot", "--batch", "2"});
  EXPECT_EQ(ended.code, 2);  // --batch twice
  const Ended once = run_bench(run_of("1ms") + Arguments{"--no-plot"});
  EXPECT_EQ(once.code, 0) << once.err;
}

TEST_F(WorkersSweepProgram, ResumesOnlyWithTheSameImages) {
  ASSERT_EQ(run_bench(run_of("1ms") + Arguments{"--no-plot"}).code, 0);
  const Arguments again = run_of("1ms") + Arguments{"--no-plot", "--resume"};
  EXPECT_EQ(run_bench(again).code, 0);
  write_bytes(data() / "class" / "another.jpg", loader::make_jpeg({}));
  const Ended changed = run_bench(again);
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, AllOf(HasSubstr("--resume"), HasSubstr("12 images"), HasSubstr("13 images")));
}

TEST_F(WorkersSweepProgram, ADryRunMakesNothing) {
  const Ended ended =
      run_bench({"--sweep", "workers", "--dry-run", "--device", "cpu", "--workers", "0,4", "--out", out()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("workers/resnet18/fp32/batch:4/in-order/workers:4"));
}

TEST_F(WorkersSweepProgram, AFolderThatVanishesEndsTheRunWithWhatWasMeasured) {
  const auto result = file("workers-20ms-cpu.json");
  Process process(run_of("20ms", "0,1,2", kEndless) + Arguments{"--no-plot"});
  const auto measured = [&] {  // more than ready data: all points were made ready
    return std::filesystem::exists(result) && read_result(result).points.size() > 1;
  };
  while (!process.ended() && !measured()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::filesystem::rename(data(), folder_.path() / "elsewhere");
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("none of the 12 images can be used"));
  EXPECT_TRUE(measured());
  EXPECT_FALSE(read_result(result).findings.empty());
  EXPECT_EQ(schema_errors(read_file(result)), "");
}

// Before the points, which begin once the file's name is locked, and between them. The run would take hours;
// how soon a wait, a search and an image in the making end is tested where they are, without a clock.
TEST_F(WorkersSweepProgram, CtrlCEndsIt) {
  for (const char* const name : {".workers-200ms-cpu.json.lock", "workers-200ms-cpu.json"}) {
    std::filesystem::remove_all(out());
    Process process(run_of("200ms", "0,1,2", kEndless) + Arguments{"--no-plot"});
    while (!process.ended() && !std::filesystem::exists(file(name))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    process.send(SIGINT);
    const Ended ended = process.wait();
    EXPECT_EQ(ended.code, 130) << name << ended.err;
  }
  EXPECT_EQ(schema_errors(read_file(file("workers-200ms-cpu.json"))), "");
}

}  // namespace
}  // namespace bench::testing
