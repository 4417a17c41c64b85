// Runs that are stopped: nothing measured is lost, and --resume goes on.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Waits until the file differs from `before`; false where the process ended first. Only a run that hangs
// reaches CTest's own time limit.
bool wait_for_change(Process& process, const fs::path& path, const std::string& before) {
  while (!process.ended()) {
    if (fs::exists(path) && read_file(path) != before) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

std::map<std::string, std::vector<std::int64_t>> samples_by_name(const ResultDocument& document) {
  std::map<std::string, std::vector<std::int64_t>> samples;
  for (const Point& point : document.points) {
    samples[point.name] = point.samples_ns;
  }
  return samples;
}

TEST(Killed, AtAnyMomentTheFileIsWholeAndResumeKeepsEverySample) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / kSmallFile;
  std::map<std::string, std::vector<std::int64_t>> before;
  std::string text;
  for (int run = 0; run < 6; ++run) {
    Process process(endless_run(folder.path()) + Arguments{"--resume"});
    ASSERT_TRUE(wait_for_change(process, path, text)) << process.wait().err;
    // From the moment of a write to well after it.
    std::this_thread::sleep_for(std::chrono::microseconds(700 * run));
    process.send(SIGKILL);
    ASSERT_EQ(process.wait().signal, SIGKILL);

    text = read_file(path);
    ASSERT_EQ(schema_errors(text), "");
    const auto now = samples_by_name(read_result(path));
    ASSERT_FALSE(now.empty());
    for (const auto& [name, samples] : before) {
      ASSERT_TRUE(now.contains(name)) << name << " was lost";
      const std::vector<std::int64_t>& kept = now.at(name);
      ASSERT_GE(kept.size(), samples.size()) << name;
      EXPECT_TRUE(std::equal(samples.begin(), samples.end(), kept.begin())) << name;
    }
    before = now;
  }
  // And a run that may end, ends, and leaves the file alone in its folder.
  const Ended ended = run_bench(small_run(folder.path()) + Arguments{"--resume"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read_result(path).points.size(), 3U);
  EXPECT_THAT(folder.names(), ElementsAre(kSmallFile));
}

class Interrupted : public ::testing::TestWithParam<int> {};

TEST_P(Interrupted, ExitsWith130AndSavesWhatItHas) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / kSmallFile;
  Process process(endless_run(folder.path()));
  ASSERT_TRUE(wait_for_change(process, path, "")) << process.wait().err;
  process.send(GetParam());
  const Ended ended = process.wait();
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_EQ(schema_errors(read_file(path)), "");
  EXPECT_FALSE(read_result(path).points.empty());
  EXPECT_THAT(ended.out, HasSubstr(path.string()));
  EXPECT_THAT(ended.out, Not(HasSubstr("--time-budget")));
  for (const Finding& finding : read_result(path).findings) {
    EXPECT_THAT(finding.claim, Not(HasSubstr("--time-budget")));
  }
  EXPECT_THAT(ended.err,
              HasSubstr("go on with " + std::string(BENCH_PROGRAM) + " --sweep batch --device cpu"));
  EXPECT_THAT(ended.err, HasSubstr(" --benchmark_repetitions=10000 --resume\n"));
  EXPECT_THAT(folder.names(), ElementsAre(kSmallFile));
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

// On busy cores it is started again by itself a tenth of a second after its start: no signal is lost in it.
TEST(InterruptedEarly, EndsWith130OnBusyCoresToo) {
  std::atomic<bool> done{false};
  std::vector<std::thread> busy(std::max(2U, std::thread::hardware_concurrency()));
  for (std::thread& one : busy) {
    one = std::thread([&] {
      while (!done) {
      }
    });
  }
  for (int delay_ms = 10; delay_ms < 310; delay_ms += 20) {
    const TemporaryFolder folder;
    const Arguments open_policy{"-u", "OMP_WAIT_POLICY", BENCH_PROGRAM};
    Process process(open_policy + endless_run(folder.path()), std::nullopt, "/usr/bin/env");
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    process.send(SIGTERM);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!process.ended() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(process.ended()) << "the signal after " << delay_ms << " ms was lost";
    const Ended ended = process.wait();
    // The system's own, where main() had not begun.
    EXPECT_TRUE(ended.code == 130 || (ended.signal == SIGTERM && ended.err.empty()))
        << delay_ms << " ms: " << ended.code << ", signal " << ended.signal << ": " << ended.err;
  }
  done = true;
  for (std::thread& one : busy) {
    one.join();
  }
}

// Its short sweeps are processes of their own.
TEST(InterruptedCommand, AdviseEndsWith130AndSaysWhereTheResultsAre) {
  // Before anything is measured, and after the first point was.
  for (const auto& [awaited, said] :
       {std::pair<const char*, std::string>("log.txt", "nothing was measured; the sweep's output is in "),
        std::pair<const char*, std::string>("batch-resnet18-cpu.json", "what was measured is in ")}) {
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "out";
    Process process({"advise", "--workload", "resnet18", "--image-size", "32", "--device", "cpu", "--out",
                     out.string(), "--time-budget", "10min"});
    while (!process.ended() && !fs::exists(out / "batch" / awaited)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    process.send(SIGINT);
    const Ended ended = process.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("interrupted during the batch sweep; " + said + out.string()));
  }
}

TEST(InterruptedCommand, OneThatWaitsForAReaderEndsWith130) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_bench(small_run(folder.path())).code, 0);
  const fs::path pipe = folder.path() / "page.html";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Process process({"report", (folder.path() / kSmallFile).string(), "-o", pipe.string()});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ASSERT_FALSE(process.ended());
    process.send(signal);
    EXPECT_EQ(process.wait().code, 130);
  }
}

TEST(Resume, WithoutAFileItStarts) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_bench(small_run(folder.path()) + Arguments{"--resume"}).code, 0);
  EXPECT_FALSE(read_result(folder.path() / kSmallFile).points.empty());
}

TEST(TwoAtOnce, TheSecondSaysSoAndTheFirstGoesOn) {
  const TemporaryFolder folder;
  Process first(endless_run(folder.path()));
  ASSERT_TRUE(wait_for_change(first, folder.path() / kSmallFile, "")) << first.wait().err;
  const Ended second = run_bench(small_run(folder.path()));
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another bench is writing"));
  EXPECT_FALSE(first.ended());
  first.send(SIGINT);
  EXPECT_EQ(first.wait().code, 130);
}

}  // namespace
}  // namespace bench::testing
