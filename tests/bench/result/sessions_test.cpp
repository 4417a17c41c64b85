// Rounds that tell less than others, and sessions that differ.
#include "bench/result/sessions.h"

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Session session(const std::string& started = "2026-03-01T12:00:00+01:00") {
  return {.id = started,
          .started = started,
          .boot_id = "boot-1",
          .kernel = "6.1.0",
          .governor = "performance",
          .build = "aaaa",
          .commit = "7b5218b",
          .threads = {{"OMP_NUM_THREADS", "2"}}};
}

TEST(Disturbances, OfAQuietRoundAreNone) {
  EXPECT_THAT(disturbances({}), IsEmpty()) << "nothing is known";
  EXPECT_THAT(disturbances({.steal = 0.01, .other_cores = 0.1, .load = 9}), IsEmpty());
}

TEST(Disturbances, AreNamed) {
  EXPECT_THAT(disturbances({.throttled = {"sw_power_cap"}, .steal = 0.03, .other_cores = 0.5}),
              ElementsAre("throttled", "steal", "other_load"));
}

TEST(Disturbances, CountASlowCalibrationOfEitherKernel) {
  const std::map<std::string, SessionCalibration> typical{
      {"host", {.median = {.arithmetic_ns = 100, .copy_ns = 100}, .readings = 9}}};
  const auto of = [&](double arithmetic_ns, double copy_ns) {
    return disturbances({.calibration = {{"host", {arithmetic_ns, copy_ns}}}}, typical);
  };
  EXPECT_THAT(of(109, 50), IsEmpty());
  EXPECT_THAT(of(112, 100), ElementsAre("calibration"));
  EXPECT_THAT(of(100, 112), ElementsAre("calibration"));
  EXPECT_THAT(disturbances({.calibration = {{"device", {900, 900}}}}, typical), IsEmpty())
      << "not comparable";
}

MeasuredRound calibrated(std::int64_t start_ns, double arithmetic_ns, std::int64_t session = 0) {
  return {.samples = 1,
          .session = session,
          .start_ns = start_ns,
          .calibration = {{"host", {.arithmetic_ns = arithmetic_ns, .copy_ns = 10}}}};
}

// Rounds carry the last reading until the next one.
TEST(SessionCalibration, IsTheMedianOfItsReadingsEachOnce) {
  ResultDocument document;
  document.points.resize(2);
  document.points[0].rounds = {calibrated(0, 100), calibrated(20, 100), calibrated(40, 120)};
  document.points[1].rounds = {calibrated(10, 100), calibrated(30, 130), calibrated(0, 900, 1)};
  const auto calibration = session_calibration(document, 0);
  ASSERT_TRUE(calibration.contains("host"));
  EXPECT_EQ(calibration.at("host").readings, 3);
  EXPECT_EQ(calibration.at("host").median, (Calibration{.arithmetic_ns = 120, .copy_ns = 10}));
  EXPECT_THAT(session_calibration({}, 0), IsEmpty());
}

TEST(MarkDisturbances, JudgesBySessionAndFlagsAPointMostOfWhoseRoundsWere) {
  ResultDocument document;
  document.sessions = {session(), session()};
  Point slow;
  slow.rounds = {calibrated(0, 100), calibrated(10, 150), calibrated(20, 151)};
  slow.validity.flags = {"noisy"};
  Point steady;
  steady.rounds = {calibrated(30, 101), calibrated(40, 102), calibrated(50, 99), calibrated(0, 400, 1)};
  document.points = {slow, steady};
  mark_disturbances(document, 0);
  EXPECT_THAT(document.points[0].rounds[1].disturbed, ElementsAre("calibration"));
  EXPECT_THAT(document.points[0].validity.flags, ElementsAre("disturbed", "noisy"));
  EXPECT_THAT(document.points[1].rounds[3].disturbed, IsEmpty()) << "of another session";
  EXPECT_THAT(document.points[1].validity.flags, IsEmpty());
}

TEST(FlagsOfRounds, OtherProcessesAreSaidWhereTheyTouchedMostRounds) {
  Point point;
  point.rounds = {{.throttled = {"cpu_contention"}}, {.throttled = {"cpu_quota"}}};
  EXPECT_THAT(flags_of_rounds(point, {session()}), IsEmpty());
  point.rounds.push_back({.throttled = {"cpu_quota", "cpu_contention"}});
  EXPECT_THAT(flags_of_rounds(point, {session()}), ElementsAre("throttled:cpu_contention"));
}

TEST(FlagsOfRounds, NameSessionsThatDiffer) {
  Point point;
  point.rounds = {{.samples = 1, .session = 0}, {.samples = 1, .session = 1}};
  EXPECT_THAT(flags_of_rounds(point, {session(), session()}), IsEmpty());
  EXPECT_THAT(flags_of_rounds(point, {session(), session("2026-03-01T22:00:00+01:00")}),
              ElementsAre("mixed_sessions"));
  point.rounds[1].session = 0;
  EXPECT_THAT(flags_of_rounds(point, {session(), session("2026-03-01T22:00:00+01:00")}), IsEmpty());
}

TEST(SessionDifferences, AreSaidInWords) {
  EXPECT_THAT(differences(session(), session()), IsEmpty());
  EXPECT_THAT(differences(session(), session("2026-03-01T12:59:59+01:00")), IsEmpty());
  EXPECT_THAT(differences(session(), session("2026-03-01T12:30:00+00:00")), ElementsAre("2 h later"));
  EXPECT_THAT(differences(session(), session("2026-02-20T12:00:00+01:00")), ElementsAre("9 days earlier"));
  Session other = session();
  other.build = "bbbb";
  other.boot_id = "boot-2";
  other.kernel = "6.5.0";
  other.governor = "";
  other.threads = {{"OMP_WAIT_POLICY", "passive"}};
  EXPECT_THAT(differences(session(), other),
              ElementsAre("another build (aaaa there, bbbb now)", "another boot (boot-1 there, boot-2 now)",
                          "another kernel (6.1.0 there, 6.5.0 now)",
                          "another clock governor (performance there, unknown now)",
                          "another OMP_NUM_THREADS (2 there, not set now)",
                          "another OMP_WAIT_POLICY (not set there, passive now)"));
}

TEST(SessionDifferences, FromASessionOfWhichLittleIsKnown) {
  EXPECT_THAT(differences({.id = "v1-1", .started = "2026-03-01T12:00:00+01:00"}, session()),
              ElementsAre("whether build and boot are the same is not known"));
}

TEST(SessionDifferences, NeverBringControlCharactersToATerminal) {
  Session hostile = session();
  hostile.boot_id = "\x1b[31m\n";
  EXPECT_THAT(differences(session(), hostile), ElementsAre("another boot (boot-1 there, \\x1b[31m\\n now)"));
}

TEST(SecondsOf, ReadsTheDatesThatResultsHave) {
  EXPECT_EQ(seconds_of("1970-01-02T00:00:00+00:00"), 86'400);
  EXPECT_EQ(seconds_of("2026-03-01T12:34:56+01:00"), 1'772'364'896);
  EXPECT_EQ(seconds_of("2026-03-01T06:34:56-05:00"), 1'772'364'896);
  for (const char* const other : {"", "yesterday", "2026-03-01", "2026-13-01T12:34:56+01:00",
                                  "2026-03-01T12:34:56Z", "2026-03-01T1x:34:56+01:00"}) {
    EXPECT_FALSE(seconds_of(other)) << other;
  }
}

}  // namespace
}  // namespace bench
