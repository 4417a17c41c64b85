// bench --sweep: what it writes and prints.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> point_names(const ResultDocument& document) {
  std::vector<std::string> names;
  for (const Point& point : document.points) {
    names.push_back(point.name);
  }
  return names;
}

const char* const kBatch1 = "batch/conv2d/forward/fp32/batch:1";
const char* const kBatch2 = "batch/conv2d/forward/fp32/batch:2";
const char* const kBatch4 = "batch/conv2d/forward/fp32/batch:4";

TEST(SweepProgram, MeasuresPrintsAndWrites) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(small_run(folder.path() / "new" / "folder"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::filesystem::path path = folder.path() / "new" / "folder" / kSmallFile;
  EXPECT_THAT(ended.out, ::testing::StartsWith("* ")) << "the answer comes first";
  EXPECT_THAT(ended.out, HasSubstr(path.string()));

  EXPECT_EQ(schema_errors(read_file(path)), "");
  const ResultDocument document = read_result(path);
  EXPECT_THAT(point_names(document), UnorderedElementsAre(kBatch1, kBatch2, kBatch4));
  for (const Point& point : document.points) {
    EXPECT_GE(point.samples_ns.size(), 1U);
    EXPECT_LE(point.verification.value().error, point.verification.value().tolerance);
    EXPECT_GT(point.memory.peak_predicted, 0);
  }
  EXPECT_EQ(document.context.argv[1], "--sweep");
  EXPECT_THAT(document.findings, Not(IsEmpty()));
}

TEST(SweepProgram, VerboseTellsWhatVerificationTook) {
  const TemporaryFolder folder;
  const Ended quiet = run_bench(small_run(folder.path() / "quiet"));
  EXPECT_THAT(quiet.err, Not(HasSubstr("verification took")));
  const Ended verbose = run_bench(small_run(folder.path() / "verbose") + Arguments{"--verbose"});
  EXPECT_EQ(verbose.code, 0) << verbose.err;
  EXPECT_THAT(verbose.err,
              ::testing::ContainsRegex("verification took .*s for 3 points, at most .*s, of batch/conv2d"));
}

TEST(SweepProgram, ANetwork) {
  const TemporaryFolder folder;
  const Ended ended = run_bench({"--sweep", "batch", "--device", "cpu", "--workload", "resnet18",
                                 "--image-size", "32", "--batch", "1,2", "--dtype", "fp32,fp16",
                                 "--time-budget", "2s", "--no-plot", "--out", folder.path().string()});
  const std::filesystem::path path = folder.path() / "batch-resnet18-cpu.json";
  EXPECT_EQ(schema_errors(read_file(path)), "");
  const ResultDocument document = read_result(path);
  // A machine so slow that the budget ends before anything is timed says so.
  EXPECT_EQ(ended.code, document.points.empty() ? 3 : 0) << ended.err;
  std::set<std::string> seen;
  for (const Point& point : document.points) {
    seen.insert(point.name);
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    EXPECT_NE(point.status, "error") << point.reason;
    EXPECT_NE(point.reason, "");
    EXPECT_TRUE(seen.insert(point.name).second) << point.name << " stands in the file twice";
  }
  EXPECT_EQ(seen.size(), 4U) << "every point asked for is measured, or stands there with its reason";
}

TEST(SweepProgram, ATrainingStep) {
  const TemporaryFolder folder;
  const Ended ended = run_bench({"--sweep",
                                 "batch",
                                 "--device",
                                 "cpu",
                                 "--workload",
                                 "resnet18",
                                 "--mode",
                                 "train",
                                 "--image-size",
                                 "64",
                                 "--batch",
                                 "4,8",
                                 "--dtype",
                                 "fp32",
                                 "--optimizer",
                                 "adam",
                                 "--accumulate",
                                 "2",
                                 "--time-budget",
                                 "3s",
                                 "--no-plot",
                                 "--out",
                                 folder.path().string()});
  const std::filesystem::path path = folder.path() / "batch-resnet18-cpu.json";
  EXPECT_EQ(schema_errors(read_file(path)), "");
  const ResultDocument document = read_result(path);
  EXPECT_EQ(ended.code, document.points.empty() ? 3 : 0) << ended.err;
  for (const Point& point : document.points) {
    EXPECT_THAT(point.name, ::testing::StartsWith("batch/resnet18/train/fp32/batch:"));
    EXPECT_EQ(point.params.at("optimizer"), "adam");
    EXPECT_EQ(point.memory.peak_measured, point.memory.peak_predicted);
    EXPECT_GT(point.memory.by_category[MemoryCategory::gradients], 0);
    EXPECT_GT(point.memory.by_category[MemoryCategory::optimizer],
              2 * point.memory.by_category[MemoryCategory::gradients]);
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    EXPECT_EQ(point.status, "skipped") << point.reason;
  }
}

TEST(SweepProgram, ASecondRunKeepsTheFirst) {
  const TemporaryFolder folder;
  const Arguments arguments = small_run(folder.path());
  ASSERT_EQ(run_bench(arguments).code, 0);
  const std::string first = read_file(folder.path() / kSmallFile);
  ASSERT_EQ(run_bench(arguments).code, 0);
  std::vector<std::string> names = folder.names();
  ASSERT_EQ(names.size(), 2U);
  std::erase(names, kSmallFile);
  EXPECT_EQ(read_file(folder.path() / names.front()), first);
}

TEST(SweepProgram, DryRunWritesNothing) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(small_run(folder.path() / "out") + Arguments{"--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(folder.names(), IsEmpty());
}

// Where choices of algorithms and compiled plans are kept; listing makes no file.
TEST(SweepProgram, ListSaysWhereChoicesAndPlansAre) {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::string file = folder.path() / "bench" / "autotune.json";
  const std::string plans = folder.path() / "bench" / "plans";
  EXPECT_THAT(run_bench({"--list"}).out, HasSubstr("\nAutotuned choices (--no-cache): " + file +
                                                   "\nCompiled plans (--no-cache): " + plans + "\n"));
  const Json list = Json::parse(run_bench({"--list", "--benchmark_format=json"}).out);
  EXPECT_EQ(list.at("autotuned_choices"), file);
  EXPECT_EQ(list.at("compiled_plans"), plans);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(SweepProgram, TheDeviceKeepsChoicesUnlessToldNotTo) {
  const Arguments run{"--sweep", "batch", "--workload", "fragile", "--device", "fragile", "--dry-run"};
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const Ended keeps = Process(run, std::nullopt, FRAGILE_PROGRAM).wait();
  const Ended does_not = Process(run + Arguments{"--no-cache"}, std::nullopt, FRAGILE_PROGRAM).wait();
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(keeps.code, 0) << keeps.err;
  EXPECT_THAT(keeps.err, HasSubstr("keeps choices in " + folder.path().string() + "/bench/autotune.json\n"));
  EXPECT_EQ(does_not.code, 0) << does_not.err;
  EXPECT_THAT(does_not.err, Not(HasSubstr("choices")));
}

// Spins on every core.
class BusyCores {
 public:
  BusyCores() {
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (::getppid() != 0) {
        }
      }
      children_.push_back(child);
    }
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;
  ~BusyCores() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

TEST(SweepProgram, OnBusyCoresItsThreadsSleepWhichIsSaidOnceAndNotBeforeAnError) {
  const TemporaryFolder folder;
  const BusyCores busy;
  const auto run = [&](const std::string& out) {
    return Process(Arguments{"-u", "OMP_WAIT_POLICY", "-u", "GOMP_SPINCOUNT", BENCH_PROGRAM} + small_run(out),
                   std::nullopt, "/usr/bin/env")
        .wait();
  };
  const Ended measured = run(folder.path() / "out");
  EXPECT_EQ(measured.code, 0) << measured.err;
  const std::string note = "Other programs use the cores";
  const std::size_t said = measured.err.find(note);
  ASSERT_NE(said, std::string::npos) << measured.err;
  EXPECT_EQ(measured.err.find(note, said + 1), std::string::npos);
  const Ended refused = run("/proc/out");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, ::testing::StartsWith("bench: --out: "));
}

TEST(SweepProgram, HelpAndVersion) {
  const Ended help = run_bench({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_LE(lines_of(help.out).size(), 24U) << "one screen";
  const Json version = Json::parse(run_bench({"--version", "--format", "json"}).out);
  EXPECT_THAT(run_bench({"--version"}).out,
              ::testing::StartsWith("bench " + version.at("bench").get<std::string>()));
}

TEST(GoogleBenchmarkFlags, ListTests) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(small_run(folder.path() / "out") + Arguments{"--benchmark_list_tests"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(lines_of(ended.out), ElementsAre(kBatch1, kBatch2, kBatch4));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(GoogleBenchmarkFlags, Filter) {
  const TemporaryFolder folder;
  const Ended listed = run_bench(small_run(folder.path()) +
                                 Arguments{"--benchmark_list_tests", "--benchmark_filter=batch:[24]$"});
  EXPECT_THAT(lines_of(listed.out), ElementsAre(kBatch2, kBatch4));
  const Ended inverted = run_bench(small_run(folder.path()) +
                                   Arguments{"--benchmark_list_tests", "--benchmark_filter=-batch:2"});
  EXPECT_THAT(lines_of(inverted.out), ElementsAre(kBatch1, kBatch4));

  ASSERT_EQ(run_bench(small_run(folder.path()) + Arguments{"--benchmark_filter=batch:2"}).code, 0);
  EXPECT_THAT(point_names(read_result(folder.path() / kSmallFile)), ElementsAre(kBatch2));
}

TEST(GoogleBenchmarkFlags, FormatJsonLeavesOnlyJsonOnStandardOutput) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(small_run(folder.path()) + Arguments{"--benchmark_format=json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  ASSERT_FALSE(json.at("benchmarks").empty());
  EXPECT_TRUE(json["benchmarks"][0].contains("real_time"));
}

TEST(GoogleBenchmarkFlags, Out) {
  const TemporaryFolder folder;
  const std::filesystem::path json_path = folder.path() / "gb.json";
  ASSERT_EQ(run_bench(small_run(folder.path()) + Arguments{"--benchmark_out=" + json_path.string()}).code, 0);
  EXPECT_FALSE(Json::parse(read_file(json_path)).at("benchmarks").empty());

  const std::filesystem::path csv_path = folder.path() / "gb.csv";
  ASSERT_EQ(run_bench(small_run(folder.path()) +
                      Arguments{"--benchmark_out=" + csv_path.string(), "--benchmark_out_format=csv"})
                .code,
            0);
  EXPECT_THAT(read_file(csv_path), HasSubstr("name,iterations,real_time"));
}

}  // namespace
}  // namespace bench::testing
