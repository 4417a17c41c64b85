#include "bench/compare/judgement.h"

#include <cmath>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

#include "bench/compare/wording.h"
#include "tests/bench/compare/runs.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

Judgement judged(std::vector<ComparedRun> base, std::vector<ComparedRun> next,
                 const CompareSettings& settings = {}, const std::vector<PastRun>& history = {}) {
  return judge(match_runs(std::move(base), std::move(next), {}), settings, history);
}

const JudgedPoint& point_of(const Judgement& judgement, std::string_view name) {
  for (const JudgedPoint& point : judgement.points) {
    if (point.name == name) {
      return point;
    }
  }
  throw std::out_of_range(std::string(name));
}

// Each point takes a tenth longer.
std::map<std::string, double> all_slower() {
  std::map<std::string, double> factors;
  for (int point = 0; point < 4; ++point) {
    factors[point_name(point)] = 1.1;
  }
  return factors;
}

TEST(Judgement, EqualRunsAreTheSame) {
  const Judgement judgement = judged(five_runs("a"), five_runs("b"));
  EXPECT_EQ(judgement.code, ExitCode::done);
  EXPECT_EQ(judgement.count(Verdict::same), 4U);
  EXPECT_EQ(outcome(judgement), "no regression");
}

TEST(Judgement, ASlowerPointIsARegressionAndFirst) {
  const Judgement judgement = judged(five_runs("a"), five_runs("b", {{point_name(2), 1.08}}));
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(judgement.points.front().name, point_name(2));
  EXPECT_EQ(judgement.points.front().verdict, Verdict::slower);
  EXPECT_NEAR(judgement.points.front().change(Metric::time)->estimate.ratio.value, 1.08, 0.005);
  EXPECT_EQ(judgement.count(Verdict::slower), 1U);
}

TEST(Judgement, ALargerThresholdAllowsIt) {
  CompareSettings settings;
  settings.thresholds[Metric::time] = 0.2;
  const Judgement judgement = judged(five_runs("a"), five_runs("b", {{point_name(2), 1.08}}), settings);
  EXPECT_EQ(judgement.code, ExitCode::done);
  EXPECT_TRUE(point_of(judgement, point_name(2)).change(Metric::time)->estimate.ratio.differs_from_one());
  expect_words(headlines(judgement));
}

TEST(Judgement, AFasterPointNeverFails) {
  const Judgement judgement = judged(five_runs("a"), five_runs("b", {{point_name(1), 0.9}}));
  EXPECT_EQ(judgement.code, ExitCode::done);
  EXPECT_EQ(point_of(judgement, point_name(1)).verdict, Verdict::faster);
}

TEST(Judgement, AllPointsSlowerIsARegression) {
  const Judgement judgement = judged(five_runs("a"), five_runs("b", all_slower()));
  EXPECT_EQ(judgement.code, ExitCode::regression);
  ASSERT_TRUE(judgement.suites.front().common);
  EXPECT_EQ(judgement.suites.front().common_verdict, Verdict::slower);
}

// The machine's own slowdown: the calibration of the same runs took as much longer.
TEST(Judgement, ACommonChangeThatTheCalibrationSharesIsTheMachines) {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b", all_slower());
  for (std::size_t run = 0; run < 5; ++run) {
    base[run].calibrations["host"] = std::log(1e6) + 0.0004 * static_cast<double>(run);
    next[run].calibrations["host"] = std::log(1.1e6) + 0.0004 * static_cast<double>(4 - run);
  }
  const Judgement judgement = judged(base, next);
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  expect_words(judgement.suites.front().common_reason);
}

// One point is so noisy that only a far larger slowdown of it would show.
TEST(Judgement, SaysWhatHalfOfTheInconclusivePointsAndTheNoisiestWouldShow) {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b");
  for (std::size_t run = 0; run < 5; ++run) {
    for (std::size_t point = 0; point < 4; ++point) {
      const double sign = (run + point) % 2 == 0 ? 1 : -1;
      const double noise = point == 3 ? 0.3 : 0.02 + 0.002 * static_cast<double>(point);
      base[run].points[point].median_ns *= 1 + sign * noise;
      next[run].points[point].median_ns *= 1 - sign * noise;
    }
  }
  const Judgement judgement = judged(base, next);
  EXPECT_EQ(judgement.count(Verdict::inconclusive), 4U);
  expect_words(headlines(judgement));
}

// A throttled point is not compared: no slowdown of it would show.
TEST(Judgement, SaysAtHowManyPointsASlowdownWouldShow) {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b");
  for (std::size_t run = 0; run < 5; ++run) {
    for (std::size_t point = 0; point < 4; ++point) {
      const double noise = (run + point) % 2 == 0 ? 0.02 : -0.02;
      base[run].points[point].median_ns *= 1 + noise;
      next[run].points[point].median_ns *= 1 - noise;
    }
    next[run].points[3].flags = {"throttled:sw_power_cap"};
  }
  const Judgement judgement = judged(base, next);
  EXPECT_EQ(judgement.count(Verdict::inconclusive), 4U);
  expect_words(headlines(judgement));
}

// The machine's own slowdown: no point is inconclusive.
TEST(Judgement, SaysWhichSlowdownOfAllPointsTogetherWouldShow) {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b", all_slower());
  for (std::size_t run = 0; run < 5; ++run) {
    base[run].calibrations["host"] = std::log(1e6);
    next[run].calibrations["host"] = std::log(1.1e6);
  }
  expect_words(headlines(judged(base, next)));
}

TEST(Judgement, OneRunASideIsInconclusiveWithoutHistory) {
  const Judgement judgement = judged({five_runs("a").front()}, {five_runs("b").front()});
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  EXPECT_EQ(judgement.count(Verdict::inconclusive), 4U);
  EXPECT_DOUBLE_EQ(judgement.inconclusive_share(), 1);
  expect_words(judgement.points.front().reason);
  CompareSettings settings;
  settings.allow_inconclusive = true;
  EXPECT_EQ(judged({five_runs("a").front()}, {five_runs("b").front()}, settings).code, ExitCode::done);
}

TEST(Judgement, HistoryTellsHowMuchRunsDiffer) {
  std::vector<PastRun> history;
  for (const ComparedRun& run : five_runs("h")) {
    PastRun past;
    past.id = run.identity;
    for (const RunPoint& point : run.points) {
      past.points[point.key] = {.median_ns = point.median_ns};
    }
    history.push_back(past);
  }
  const std::vector<ComparedRun> slower = five_runs("b", {{point_name(2), 1.2}});
  const Judgement judgement = judged({five_runs("a").front()}, {slower.front()}, {}, history);
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(judgement.points.front().name, point_name(2));
}

TEST(Judgement, BytesAreComparedExactly) {
  std::vector<ComparedRun> next = five_runs("b");
  for (ComparedRun& run : next) {
    run.points[0].tracked_bytes += 1;
    run.points[1].planned_bytes -= 1;
    run.points[2].driver_bytes += 2'000'000;  // less than a driver's blocks
    run.points[3].driver_bytes += 20'000'000;
  }
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(point_of(judgement, point_name(0)).verdict, Verdict::hungrier);
  EXPECT_EQ(point_of(judgement, point_name(1)).verdict, Verdict::leaner);
  EXPECT_EQ(point_of(judgement, point_name(2)).verdict, Verdict::same);
  EXPECT_EQ(point_of(judgement, point_name(3)).verdict, Verdict::hungrier);
}

TEST(Judgement, BytesThatVaryBetweenRunsMustAllBeMore) {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b");
  base.back().points[0].tracked_bytes += 10;
  next.front().points[0].tracked_bytes += 20;
  EXPECT_EQ(judged(base, next).count(Verdict::hungrier), 0U);
}

TEST(Judgement, AThrottledSideIsInconclusive) {
  std::vector<ComparedRun> next = five_runs("b", {{point_name(2), 1.2}});
  next.back().points[2].flags = {"throttled:sw_power_cap"};
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(point_of(judgement, point_name(2)).verdict, Verdict::inconclusive);
  expect_words(point_of(judgement, point_name(2)).reason);
  std::vector<ComparedRun> base = five_runs("a");
  base.front().points[2].flags = {"throttled:sw_power_cap"};
  EXPECT_EQ(point_of(judged(base, next), point_name(2)).verdict, Verdict::slower);
}

// Not even of what all share: a card that throttled everywhere is not a slower program.
TEST(Judgement, ThrottledPointsTellNothingOfWhatAllShare) {
  std::vector<ComparedRun> next = five_runs(
      "b", {{point_name(0), 1.2}, {point_name(1), 1.2}, {point_name(2), 1.2}, {point_name(3), 1.2}});
  EXPECT_EQ(judged(five_runs("a"), next).code, ExitCode::regression);
  for (RunPoint& point : next.back().points) {
    point.flags = {"throttled:sw_power_cap"};
  }
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  EXPECT_EQ(judgement.count(Verdict::inconclusive), 4U);
  const MetricChange* const time = point_of(judgement, point_name(0)).change(Metric::time);
  ASSERT_NE(time, nullptr);
  EXPECT_NEAR(time->estimate.ratio.value, 1.2, 0.005);
  EXPECT_FALSE(time->estimate.ratio.interval);
}

// The history tells how runs of many rounds differ.
TEST(Judgement, OneRunOfOneRoundIsInconclusive) {
  std::vector<PastRun> history;
  for (const ComparedRun& run : five_runs("h")) {
    PastRun& past = history.emplace_back();
    for (const RunPoint& point : run.points) {
      past.points[point.key] = {.median_ns = point.median_ns};
    }
  }
  const std::vector<ComparedRun> base{five_runs("a").front()};
  std::vector<ComparedRun> next{five_runs("b", {{point_name(2), 1.5}}).front()};
  EXPECT_EQ(point_of(judged(base, next, {}, history), point_name(2)).verdict, Verdict::slower);
  next[0].points[2].rounds = 1;
  const Judgement judgement = judged(base, next, {}, history);
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  EXPECT_EQ(point_of(judgement, point_name(2)).verdict, Verdict::inconclusive);
  EXPECT_EQ(point_of(judgement, point_name(2)).reason, "NEW has one run and one round of it");
  std::vector<ComparedRun> several = five_runs("b");  // differ among themselves, and show it
  for (ComparedRun& run : several) {
    run.points[2].rounds = 1;
  }
  EXPECT_EQ(judged(five_runs("a"), several).code, ExitCode::done);
}

TEST(Judgement, OtherProgramsNowAndThenDoNotHideARegression) {
  std::vector<ComparedRun> next = five_runs("b", {{point_name(2), 1.2}});
  next.back().points[2].flags = {"throttled:cpu_contention"};
  EXPECT_EQ(point_of(judged(five_runs("a"), next), point_name(2)).verdict, Verdict::slower);
  for (ComparedRun& run : next) {
    run.points[2].flags = {"throttled:cpu_contention"};
  }
  EXPECT_EQ(point_of(judged(five_runs("a"), next), point_name(2)).verdict, Verdict::inconclusive);
}

TEST(Judgement, StallIsAMetricOfItsOwn) {
  const auto with_stall = [](std::vector<ComparedRun> runs, double stall) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      runs[run].points[1].stall = stall + 0.0005 * static_cast<double>(run % 3);
    }
    return runs;
  };
  const Judgement judgement = judged(with_stall(five_runs("a"), 0.10), with_stall(five_runs("b"), 0.30));
  const JudgedPoint& point = point_of(judgement, point_name(1));
  ASSERT_NE(point.change(Metric::stall), nullptr);
  EXPECT_EQ(point.change(Metric::stall)->verdict, Verdict::slower);
  EXPECT_EQ(point.change(Metric::time)->verdict, Verdict::same);
  expect_words(explanation(point));
  EXPECT_EQ(point_of(judgement, point_name(0)).change(Metric::stall), nullptr);
}

TEST(Judgement, LostPointsAreRegressionsAndNewOnesAreNot) {
  std::vector<ComparedRun> next = five_runs("b");
  for (ComparedRun& run : next) {
    run.points.back().name = "another";
  }
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(point_of(judgement, point_name(3)).verdict, Verdict::missing);
  EXPECT_EQ(point_of(judgement, "another").verdict, Verdict::added);
}

TEST(Judgement, APointThatTheTimeBudgetLeftOutIsInconclusive) {
  std::vector<ComparedRun> next = five_runs("b");
  for (ComparedRun& run : next) {
    run.points.pop_back();
    run.unmeasured = {
        {.name = point_name(3), .params = {}, .status = "skipped", .reason = "the time budget ended"}};
  }
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  EXPECT_EQ(point_of(judgement, point_name(3)).verdict, Verdict::inconclusive);
  expect_words(point_of(judgement, point_name(3)).reason);
  EXPECT_DOUBLE_EQ(judgement.inconclusive_share(), 0.25);
}

TEST(Judgement, TheHeadlineSaysWhatToDo) {
  const auto headline = [](const Judgement& judgement) { return headlines(judgement).front(); };
  const std::vector<ComparedRun> base = five_runs("a");
  expect_words(headline(judged(base, five_runs("b", {{point_name(2), 1.2}}))));
  std::vector<ComparedRun> hungrier = five_runs("c");
  std::vector<ComparedRun> fewer = five_runs("d");
  std::vector<ComparedRun> left_out = five_runs("e");
  for (std::size_t run = 0; run < hungrier.size(); ++run) {
    hungrier[run].points[1].tracked_bytes += 1000;
    fewer[run].points.pop_back();
    left_out[run].points.pop_back();
    left_out[run].unmeasured = {
        {.name = point_name(3), .params = {}, .status = "skipped", .reason = "the time budget ended"}};
  }
  expect_words(headline(judged(base, hungrier)));
  expect_words(headline(judged(base, fewer)));
  expect_words(headline(judged(base, left_out)));
  expect_words(headline(judged({base.front()}, {five_runs("f").front()})));
  std::vector<ComparedRun> one_round{five_runs("g").front()};
  for (RunPoint& point : one_round.front().points) {
    point.rounds = 1;
  }
  expect_words(headline(judged({base.front()}, one_round)));
}

TEST(Judgement, ATimeBelowTheClocksResolutionIsInconclusive) {
  std::vector<ComparedRun> next = five_runs("b");
  for (ComparedRun& run : next) {
    run.points[0].median_ns = 0;
  }
  const Judgement judgement = judged(five_runs("a"), next);
  EXPECT_EQ(point_of(judgement, point_name(0)).verdict, Verdict::inconclusive);
  expect_words(point_of(judgement, point_name(0)).reason);
}

}  // namespace
}  // namespace bench::testing
