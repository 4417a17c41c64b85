// How a session begins, and what it says when it ends.
#include "bench/run/session.h"

#include <cmath>

#include <gmock/gmock.h>

#include "bench/result/between_runs.h"
#include "bench/result/result_json.h"
#include "bench/run/history.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

const SystemState kSystem{
    .boot_id = "boot-1", .kernel = "6.1.0", .governor = "performance", .machine_id = "secret"};

TEST(BeginSession, TellsWhenAndOnWhat) {
  ResultDocument document = testing::sample_document();
  begin_session(document, kSystem);
  ASSERT_EQ(document.sessions.size(), 1U);
  const Session& session = document.sessions.front();
  EXPECT_EQ(session.started, "2026-03-01T12:34:56+01:00");
  EXPECT_EQ(session.boot_id, "boot-1");
  EXPECT_EQ(session.kernel, "6.1.0");
  EXPECT_EQ(session.governor, "performance");
  EXPECT_EQ(document.context.run_id, session.id);
  ResultDocument another = testing::sample_document();
  begin_session(another, kSystem);
  EXPECT_NE(another.context.run_id, document.context.run_id);
  EXPECT_EQ(another.context.machine, document.context.machine);
  EXPECT_THAT(to_text(to_json(document)), ::testing::Not(HasSubstr("secret")));
}

TEST(BeginSession, NamesAMachineByItsSystemHostAndDevice) {
  ResultDocument document = testing::sample_document();
  begin_session(document, kSystem);
  const auto machine_with = [](const auto& change) {
    ResultDocument changed = testing::sample_document();
    SystemState system = kSystem;
    change(changed.context, system);
    begin_session(changed, system);
    return changed.context.machine;
  };
  const std::string machine = document.context.machine;
  EXPECT_EQ(machine_with([](RunContext& /*context*/, SystemState& system) { system.boot_id = "boot-2"; }),
            machine);
  EXPECT_NE(machine_with([](RunContext& /*context*/, SystemState& system) { system.machine_id = ""; }),
            machine);
  EXPECT_NE(machine_with([](RunContext& context, SystemState&) { context.host.usable_cores = 1; }), machine);
  EXPECT_NE(machine_with([](RunContext& context, SystemState&) { context.device.name = "T4"; }), machine);
}

// A run of one point whose median is `factor` times the usual.
ResultDocument run_of(double factor, double calibration = 1) {
  ResultDocument document = testing::sample_document();
  document.points.resize(1);
  begin_session(document, kSystem);
  Point& point = document.points[0];
  const auto step_ns = static_cast<std::int64_t>(1e7 * factor);
  point.samples_ns = {step_ns, step_ns, step_ns};
  point.stats = {.median_ns = static_cast<double>(step_ns), .rounds = 3};
  point.rounds = rounds_of({1, 1, 1});
  for (MeasuredRound& round : point.rounds) {
    round.start_ns = 1000 * round.round;
    round.calibration["host"] = {.arithmetic_ns = 1e5 * calibration + static_cast<double>(round.round),
                                 .copy_ns = 2e5};
  }
  return document;
}

class EndSession : public ::testing::Test {
 protected:
  std::string end(ResultDocument& document, SessionEnd how = {}) {
    return end_session(document, 0, folder_.path() / "history.json", how);
  }
  TemporaryFolder folder_;
};

TEST_F(EndSession, FromTheThirdRunOnAPointHasAnIntervalBetweenRuns) {
  for (const double factor : {1.0, 1.1}) {
    ResultDocument document = run_of(factor);
    EXPECT_EQ(end(document), "");
    EXPECT_FALSE(document.points[0].stats.ci95_between_ns);
    EXPECT_FALSE(document.sessions[0].history);
  }
  ResultDocument third = run_of(1.05);
  end(third);
  ASSERT_TRUE(third.points[0].stats.ci95_between_ns);
  EXPECT_LT(third.points[0].stats.ci95_between_ns->low, 1e7);
  EXPECT_GT(third.points[0].stats.ci95_between_ns->high, 1.1e7);
  ASSERT_TRUE(third.sessions[0].history);
  EXPECT_EQ(third.sessions[0].history->runs, 3);
  EXPECT_EQ(third.sessions[0].history->since, "2026-03-01T12:34:56+01:00");
  EXPECT_EQ(testing::schema_errors(to_text(to_json(third))), "");
}

TEST_F(EndSession, SaysWhetherThisHourIsLikeTheOthers) {
  for (int i = 0; i < 3; ++i) {
    ResultDocument document = run_of(1);
    end(document);
    EXPECT_EQ(unusual_speed(document.sessions[0]), std::nullopt);
  }
  ResultDocument slow = run_of(1.12, 1.12);
  end(slow);
  EXPECT_EQ(unusual_speed(slow.sessions[0]),
            "arithmetic on the host takes 1.12× its usual time on this machine (median of 3 runs)");
  EXPECT_EQ(slow.sessions[0].calibration.at("host").readings, 3);
}

// Ranks that wait spin on the host's cores: its calibrations tell of them, not of the machine.
TEST_F(EndSession, AHostThatRanksShareIsNeitherJudgedNorRemembered) {
  const SessionEnd of_ranks{.ranks_share_host = true};
  for (int i = 0; i < 3; ++i) {
    ResultDocument alone = run_of(1);
    end(alone);
  }
  ResultDocument ranks = run_of(1, 28.7);
  end(ranks, of_ranks);
  EXPECT_EQ(unusual_speed(ranks.sessions[0]), std::nullopt);
  EXPECT_EQ(ranks.sessions[0].calibration.at("host").readings, 3) << "the run's own are in its file";
  ResultDocument slow = run_of(1, 1.12);
  end(slow);
  EXPECT_EQ(unusual_speed(slow.sessions[0]),
            "arithmetic on the host takes 1.12× its usual time on this machine (median of 3 runs)");
}

TEST_F(EndSession, JudgesTheRoundsByTheSessionsCalibration) {
  ResultDocument document = run_of(1);
  document.points[0].rounds[1].calibration["host"].arithmetic_ns *= 1.3;
  document.points[0].rounds[2].calibration["host"].copy_ns *= 1.3;
  end(document);
  EXPECT_THAT(document.points[0].rounds[1].disturbed, Contains("calibration"));
  EXPECT_THAT(document.points[0].validity.flags, Contains("disturbed"));
}

TEST_F(EndSession, LeavesTheHistoryAloneWhereItIsToldTo) {
  ResultDocument document = run_of(1);
  end(document, {.keep = false});
  EXPECT_TRUE(folder_.names().empty());
  EXPECT_EQ(end_session(document, 0, std::nullopt, {}), "");
  EXPECT_EQ(document.sessions[0].calibration.size(), 1U);
}

TEST_F(EndSession, EndedTwiceItIsOneRun) {
  ResultDocument document = run_of(1);
  end(document);
  end(document);
  end(document);
  EXPECT_FALSE(document.sessions[0].history);
}

TEST_F(EndSession, OfADamagedHistorySaysSoOnce) {
  testing::write_file(folder_.path() / "history.json", "oops");
  ResultDocument document = run_of(1);
  EXPECT_THAT(end(document), HasSubstr("history.json.damaged"));
  EXPECT_EQ(end(document), "");
}

}  // namespace
}  // namespace bench
