// A device that is lost in the middle of a sweep: its point is in error, a fresh process measures the others.
#include <cstdlib>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kFragileFile = "batch-fragile-fragile.json";

Arguments fragile_run(const fs::path& out, const std::string& lost_at) {
  return {"--sweep",   "batch", "--workload", "fragile", "--device",   "fragile",       "--batch", "1,2,4,8",
          "--lost-at", lost_at, "--no-plot",  "--out",   out.string(), "--time-budget", "60min"};
}

Ended run_fragile(const Arguments& arguments) {
  return Process(arguments, std::nullopt, FRAGILE_PROGRAM).wait();
}

// Findings wrap at the width of the terminal, with an indent of two.
std::string unwrapped(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos; ++at) {
    text.replace(at, 3, " ");
  }
  return text;
}

std::int64_t processes(const Ended& ended) {
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = ended.err.find("process starts", at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

std::vector<std::int64_t> batches(const std::vector<Point>& points) {
  std::vector<std::int64_t> found;
  for (const Point& point : points) {
    found.push_back(point.params.at("batch"));
  }
  return found;
}

std::vector<std::int64_t> batches_in_error(const ResultDocument& document) {
  std::vector<std::int64_t> found;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    EXPECT_EQ(point.status, "error");
    expect_words(point.reason);
    found.push_back(point.params.at("batch"));
  }
  return found;
}

TEST(LostDevice, NothingLostIsOneProcess) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_run(folder.path(), "0"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(processes(ended), 1);
  EXPECT_THAT(batches(read_result(folder.path() / kFragileFile).points), ElementsAre(1, 2, 4, 8));
}

TEST(FragileRun, TellsWhatVerificationTookIfItIsAsked) {
  const TemporaryFolder folder;
  const Arguments run = fragile_run(folder.path(), "0");
  constexpr const char* kCost = "verification took .* for 4 points, at most .*, of ";
  EXPECT_THAT(run_fragile(run + Arguments{"--verbose"}).err, ContainsRegex(kCost));
  EXPECT_THAT(run_fragile(run).err, Not(ContainsRegex(kCost)));
}

TEST(LostDevice, ThePointIsInErrorAndAFreshProcessMeasuresTheOthers) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_run(folder.path(), "2"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 2) << ended.err;
  const std::string text = read_file(folder.path() / kFragileFile);
  EXPECT_EQ(schema_errors(text), "");
  const ResultDocument document = read_result(folder.path() / kFragileFile);
  EXPECT_THAT(batches(document.points), ElementsAre(1, 4, 8));
  EXPECT_THAT(batches_in_error(document), ElementsAre(2));
  EXPECT_THAT(ended.out, HasSubstr((folder.path() / kFragileFile).string()));
  EXPECT_THAT(folder.names(), ElementsAre(kFragileFile)) << "one result, no lock left";
}

TEST(LostDevice, EachPointThatLosesItIsTriedOnce) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_run(folder.path(), "1/2/4/8"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 5) << ended.err;
  const ResultDocument document = read_result(folder.path() / kFragileFile);
  EXPECT_THAT(document.points, IsEmpty());
  EXPECT_THAT(batches_in_error(document), UnorderedElementsAre(1, 2, 4, 8));
}

// Lost long after the point was probed, when others and it have samples.
TEST(LostDevice, SamplesOfThePointThatLostItAreNotKeptThoseOfTheOthersAre) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_run(folder.path(), "4") + Arguments{"--lost-on-step", "40"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 2) << ended.err;
  const ResultDocument document = read_result(folder.path() / kFragileFile);
  EXPECT_THAT(batches(document.points), ElementsAre(1, 2, 8));
  EXPECT_THAT(batches_in_error(document), ElementsAre(4));
}

// By a signal that comes while the lost device is closed: the fresh process would not know of it.
TEST(LostDevice, AnInterruptedRunIsNotGoneOnWith) {
  const TemporaryFolder folder;
  setenv("FRAGILE_CLOSES_INTERRUPTED", "1", 1);
  const Ended ended = run_fragile(fragile_run(folder.path(), "2"));
  unsetenv("FRAGILE_CLOSES_INTERRUPTED");
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_EQ(processes(ended), 1) << ended.err;
  EXPECT_THAT(ended.err,
              ::testing::ContainsRegex("interrupted; what was measured is saved; go on with .* --resume\n"));
  EXPECT_THAT(batches_in_error(read_result(folder.path() / kFragileFile)), ElementsAre(2));
}

TEST(LostDevice, OutsideOfAnyPointTheRunEndsAndNeverLoops) {
  const TemporaryFolder folder;
  setenv("FRAGILE_PEAKS", "1", 1);
  const Ended ended = run_fragile(fragile_run(folder.path(), "0"));
  unsetenv("FRAGILE_PEAKS");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 1) << ended.err;
  EXPECT_THAT(ended.err, ::testing::ContainsRegex("go on with .* --resume\n"));
}

TEST(LostDevice, ALaterResumeTriesThePointInErrorAgain) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_fragile(fragile_run(folder.path(), "2")).code, 3);
  Arguments again = fragile_run(folder.path(), "2");
  again.emplace_back("--resume");
  const Ended ended = run_fragile(again);
  EXPECT_EQ(processes(ended), 2) << ended.err;
  EXPECT_THAT(batches(read_result(folder.path() / kFragileFile).points), ElementsAre(1, 4, 8));
}

// Batches of 100 + 10 · batch bytes: 1 KiB holds 92, 2 KiB 194, 3 KiB 297.
Arguments fragile_memory_run(const fs::path& out, const std::string& lost_at) {
  return {"--sweep",          "memory",  "--workload",   "fragile",       "--device",
          "fragile",          "--batch", "1,2,4",        "--lost-at",     lost_at,
          "--no-plot",        "--out",   out.string(),   "--time-budget", "60min",
          "--bytes-a-sample", "10",      "--memory-cap", "1KiB,2KiB,3KiB"};
}

constexpr const char* kMemoryFile = "memory-fragile-fragile.json";

TEST(LostDevice, WhileALimitIsTriedTheOthersAreTriedInAFreshProcess) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_memory_run(folder.path(), "194"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 2) << ended.err;
  EXPECT_EQ(schema_errors(read_file(folder.path() / kMemoryFile)), "");
  const ResultDocument document = read_result(folder.path() / kMemoryFile);
  EXPECT_THAT(batches(document.points), ElementsAre(1, 2, 4));
  const Json& limits = document.sweep.state.at("limits");
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].at("proof").at("largest_batch"), 92);
  expect_words(limits[1].at("proof").at("not_tried").get<std::string>());
  EXPECT_EQ(limits[2].at("proof").at("largest_batch"), 297);
  EXPECT_EQ(document.sweep.lost.size(), 1U);
  EXPECT_THAT(ended.out, HasSubstr("not tried: the device was lost at"));  // where the line ends
}

TEST(LostDevice, EveryLimitIsTriedOnce) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_memory_run(folder.path(), "92/194/297"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 4) << ended.err;
  const ResultDocument document = read_result(folder.path() / kMemoryFile);
  EXPECT_THAT(document.points, SizeIs(3));
  for (const Json& limit : document.sweep.state.at("limits")) {
    EXPECT_TRUE(limit.at("proof").contains("not_tried")) << limit;
  }
}

// A point and then a limit: both are errors of this run.
TEST(LostDevice, InAPointAndInALimitTheRestIsMeasuredAndTried) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_memory_run(folder.path(), "2/92"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 3) << ended.err;
  const ResultDocument document = read_result(folder.path() / kMemoryFile);
  EXPECT_THAT(batches(document.points), ElementsAre(1, 4));
  EXPECT_EQ(document.sweep.state.at("limits")[2].at("proof").at("largest_batch"), 297);
}

TEST(LostDevice, InASoakItsSamplesStayAndTheLimitsAreTried) {
  const TemporaryFolder folder;
  const Ended ended = run_fragile(fragile_memory_run(folder.path(), "4") +
                                  Arguments{"--lost-on-step", "10000", "--soak", "1000000"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(processes(ended), 2) << ended.err;
  EXPECT_EQ(schema_errors(read_file(folder.path() / kMemoryFile)), "");
  const ResultDocument document = read_result(folder.path() / kMemoryFile);
  EXPECT_THAT(batches(document.points), ElementsAre(1, 2, 4));
  ASSERT_EQ(document.sweep.state.at("soak").size(), 1U);
  const Json& soak = document.sweep.state.at("soak")[0];
  EXPECT_GT(soak.at("samples").size(), 25U);
  expect_words(soak.at("ended_by").get<std::string>());
  EXPECT_EQ(document.sweep.state.at("limits")[0].at("proof").at("largest_batch"), 92);
  EXPECT_THAT(unwrapped(ended.out), HasSubstr("wanted: the device was lost"));
}

// The variable that one process leaves for the next means nothing to another.
TEST(LostDevice, AnInheritedContinuationIsIgnored) {
  const TemporaryFolder folder;
  setenv("BENCH_CONTINUES", "1 3 0", 1);
  const Ended ended = run_fragile(fragile_run(folder.path(), "2"));
  unsetenv("BENCH_CONTINUES");
  EXPECT_EQ(processes(ended), 2) << ended.err;
  EXPECT_THAT(read_result(folder.path() / kFragileFile).points, SizeIs(3));
}

}  // namespace
}  // namespace bench::testing
