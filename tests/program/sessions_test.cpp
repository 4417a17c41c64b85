// What a result says of the machine while it was measured, over several runs and a resumed one.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A cache folder of the test's own.
class SessionsOfAProgram : public ::testing::Test {
 protected:
  SessionsOfAProgram() { setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1); }
  ~SessionsOfAProgram() override { unsetenv("XDG_CACHE_HOME"); }
  SessionsOfAProgram(const SessionsOfAProgram&) = delete;
  SessionsOfAProgram& operator=(const SessionsOfAProgram&) = delete;

  std::filesystem::path out() const { return folder_.path() / "out"; }
  std::filesystem::path file() const { return out() / kSmallFile; }
  std::filesystem::path history() const { return folder_.path() / "cache" / "bench" / "history.json"; }
  ResultDocument measure(const Arguments& more = {}) {
    const Ended ended = run_bench(small_run(out()) + more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(schema_errors(read_file(file())), "");
    return read_result(file());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SessionsOfAProgram, EachRoundTellsOfItsMachine) {
  const ResultDocument document = measure();
  ASSERT_EQ(document.sessions.size(), 1U);
  EXPECT_EQ(document.context.run_id, document.sessions[0].id);
  EXPECT_NE(document.sessions[0].build, "");
  EXPECT_GT(document.sessions[0].calibration.at("host").readings, 0);
  for (const Point& point : document.points) {
    for (const MeasuredRound& round : point.rounds) {
      EXPECT_TRUE(round.cpu_time_ns);
      EXPECT_GT(round.calibration.at("host").arithmetic_ns, 0);
    }
  }
}

TEST_F(SessionsOfAProgram, FromTheThirdRunOnPointsHaveAnIntervalBetweenRuns) {
  for (int run = 1; run <= 3; ++run) {
    const ResultDocument document = measure();
    for (const Point& point : document.points) {
      EXPECT_EQ(point.stats.ci95_between_ns.has_value(), run == 3) << point.name;
    }
  }
  const std::string kept = read_file(history());
  EXPECT_FALSE(measure({"--no-cache"}).sessions[0].history);
  EXPECT_EQ(read_file(history()), kept) << "left alone";
}

TEST_F(SessionsOfAProgram, ADamagedHistoryIsSaidOnceWithVerboseAndNeverStopsARun) {
  write_file(history(), "not JSON");
  measure();
  write_file(history(), "not JSON either");
  const Ended ended = run_bench(small_run(out()) + Arguments{"--verbose"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("history.json.damaged"));
  EXPECT_THAT(run_bench(small_run(out()) + Arguments{"--verbose"}).err, Not(HasSubstr("history")));
}

TEST_F(SessionsOfAProgram, AResumedRunSaysWhatDiffersAndSoDoItsPoints) {
  measure();
  Json json = Json::parse(read_file(file()));
  const Ended alike = run_bench(small_run(out(), 4) + Arguments{"--resume"});
  EXPECT_THAT(alike.err, Not(HasSubstr("may differ")));
  for (const Point& point : read_result(file()).points) {
    EXPECT_THAT(point.validity.flags, Not(Contains("mixed_sessions")));
    EXPECT_EQ(point.rounds.back().session, 1);
  }
  json["sessions"][0]["build"] = "0123";
  write_file(file(), to_text(json));
  const Ended other = run_bench(small_run(out(), 4) + Arguments{"--resume"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("another build (0123 there, "));
  EXPECT_EQ(schema_errors(read_file(file())), "");
  for (const Point& point : read_result(file()).points) {
    EXPECT_THAT(point.validity.flags, Contains("mixed_sessions"));
  }
}

}  // namespace
}  // namespace bench::testing
