// The file of runs that a machine is known by.
#include "bench/run/history.h"

#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

PastRun run(const std::string& id, int points = 2) {
  PastRun run{.id = id,
              .started = "2026-03-01T12:34:56+01:00",
              .calibration = {{"host", {.arithmetic_ns = 203'125, .copy_ns = 180'000.5}}},
              .points = {}};
  for (int point = 0; point < points; ++point) {
    run.points["p" + std::to_string(point)] = {.median_ns = 1e6 + point, .standard_error = 0.0125};
  }
  return run;
}

std::vector<std::string> ids_of(const std::vector<PastRun>& runs) {
  std::vector<std::string> ids;
  for (const PastRun& one : runs) {
    ids.push_back(one.id);
  }
  return ids;
}

class HistoryTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "bench" / "history.json"; }
  void add(const std::string& machine, PastRun run) { HistoryFile(path()).add(machine, std::move(run)); }
  std::vector<PastRun> runs(const std::string& machine) { return HistoryFile(path()).runs(machine); }
  TemporaryFolder folder_;
};

TEST_F(HistoryTest, KeepsRunsByMachineOldestFirst) {
  EXPECT_THAT(runs("here"), IsEmpty());
  add("here", run("a"));
  add("there", run("b"));
  add("here", run("c"));
  EXPECT_THAT(ids_of(runs("here")), ElementsAre("a", "c"));
  EXPECT_THAT(ids_of(runs("there")), ElementsAre("b"));
  const PastRun kept = runs("here").front();
  EXPECT_EQ(kept.started, run("a").started);
  EXPECT_EQ(kept.calibration, run("a").calibration);
  ASSERT_EQ(kept.points.size(), 2U);
  EXPECT_EQ(kept.points.at("p1").median_ns, 1e6 + 1);
  EXPECT_EQ(kept.points.at("p1").standard_error, 0.0125);
}

TEST_F(HistoryTest, IsBounded) {
  for (std::size_t i = 0; i < HistoryFile::kMostRuns + 2; ++i) {
    add("here", run(std::to_string(i)));
  }
  EXPECT_EQ(runs("here").size(), HistoryFile::kMostRuns);
  EXPECT_EQ(runs("here").front().id, "2");
  for (std::size_t i = 0; i < HistoryFile::kMostMachines; ++i) {
    add("other " + std::to_string(i), run("x"));
  }
  EXPECT_THAT(runs("here"), IsEmpty());
  add("large", run("y", HistoryFile::kMostPoints + 5));
  EXPECT_EQ(runs("large").front().points.size(), HistoryFile::kMostPoints);
}

TEST_F(HistoryTest, ADamagedFileIsPutAsideAndANewOneBegins) {
  for (const char* const damaged :
       {"", "{\"format\": ", "[]", "{\"format\": \"bench-history/9\", \"machines\": []}",
        R"({"format": "bench-history/1", "machines": [{"machine": "here", "runs": [{"id": 1}]}]})",
        R"({"format": "bench-history/1", "machines": [{"machine": "here", "runs": [{"id": "a", "started": "",
            "calibration": {}, "points": {"p": [-1, 0]}}]}]})"}) {
    write_file(path(), damaged);
    HistoryFile file(path());
    EXPECT_THAT(file.runs("here"), IsEmpty()) << damaged;
    expect_words(without_path(file.problem(), path().parent_path()));
    EXPECT_EQ(read_file(path()), damaged) << "reading changes nothing";
    file.add("here", run("a"));
    expect_words(without_path(file.problem(), path().parent_path()));
    EXPECT_EQ(read_file(path().string() + ".damaged"), damaged);
    EXPECT_THAT(ids_of(runs("here")), ElementsAre("a"));
  }
}

TEST_F(HistoryTest, EveryMutantIsReadOrPutAside) {
  add("here", run("a"));
  add("here", run("b"));
  const std::string whole = read_file(path());
  std::mt19937_64 engine(1);
  for (int i = 0; i < 500; ++i) {
    write_file(path(), testing::mutate(whole, engine));
    EXPECT_NO_THROW(runs("here"));
  }
}

TEST_F(HistoryTest, AFileTooLargeIsNotRead) {
  write_file(path(), std::string(HistoryFile::kMostBytes + 1, ' '));
  HistoryFile file(path());
  EXPECT_THAT(file.runs("here"), IsEmpty());
  expect_words(without_path(file.problem(), path().parent_path()));
}

TEST_F(HistoryTest, WhereNothingCanBeWrittenNothingFails) {
  HistoryFile file("/proc/bench/history.json");
  EXPECT_NO_THROW(file.add("here", run("a")));
  EXPECT_THAT(file.runs("here"), IsEmpty());
  EXPECT_EQ(file.problem(), "");
}

TEST_F(HistoryTest, ManyWritersLoseNoRun) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 5; ++i) {
        add("here", run(std::to_string(10 * writer + i)));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(runs("here").size(), 20U);
}

TEST_F(HistoryTest, LeavesTheFileAndItsLock) {
  add("here", run("a"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path().parent_path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("history.json", "history.json.lock"));
}

}  // namespace
}  // namespace bench
