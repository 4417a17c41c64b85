// How much a point's median differs from run to run.
#include "bench/result/between_runs.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/bench/support/sample_document.h"

namespace bench {
namespace {

// Runs whose points share a shift and have a deviation of their own, both normal.
struct Machine {
  double common_sd = 0;
  double own_sd = 0;
  std::mt19937_64 engine{7};

  PastRun run(int points) {
    std::normal_distribution<double> normal;
    PastRun run;
    const double shift = common_sd * normal(engine);
    for (int point = 0; point < points; ++point) {
      run.points["p" + std::to_string(point)].median_ns =
          1e6 * (point + 1) * std::exp(shift + own_sd * normal(engine));
    }
    return run;
  }
  std::vector<PastRun> runs(int count, int points) {
    std::vector<PastRun> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(run(points));
    }
    return all;
  }
};

TEST(BetweenRuns, NeedThreeRuns) {
  Machine machine{.common_sd = 0.02, .own_sd = 0.01};
  const RunMedians now = machine.run(5).points;
  EXPECT_FALSE(fit_between_runs({}, now));
  EXPECT_FALSE(fit_between_runs(machine.runs(1, 5), now));
  const auto fit = fit_between_runs(machine.runs(2, 5), now);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->spread.runs, 3);
  EXPECT_EQ(fit->ci95_ns.size(), 5U);
  EXPECT_FALSE(fit_between_runs(machine.runs(9, 5), {})) << "nothing was measured";
}

TEST(BetweenRuns, FindTheSharedAndTheOwnPart) {
  Machine machine{.common_sd = 0.05, .own_sd = 0.01};
  const auto fit = fit_between_runs(machine.runs(400, 20), machine.run(20).points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->spread.common_sd, 0.05, 0.005);
  EXPECT_NEAR(fit->spread.own_sd, 0.01, 0.001);
}

// The interval is of the point's median over all runs.
TEST(BetweenRuns, TheIntervalCoversAsOftenAsItSays) {
  for (const auto& [common_sd, own_sd] :
       {std::pair(0.0, 0.02), std::pair(0.03, 0.0), std::pair(0.03, 0.02)}) {
    for (const int known : {2, 4, 9}) {
      Machine machine{.common_sd = common_sd, .own_sd = own_sd};
      int covered = 0;
      int all = 0;
      int of_another = 0;
      for (int trial = 0; trial < 100; ++trial) {
        const auto earlier = machine.runs(known, 10);
        const RunMedians now = machine.run(10).points;
        const RunMedians another = machine.run(10).points;
        const auto fit = fit_between_runs(earlier, now);
        for (int point = 0; point < 10; ++point) {
          const std::string key = "p" + std::to_string(point);
          const Interval interval = fit->ci95_ns.at(key);
          const double truth = 1e6 * (point + 1);
          covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
          const double other = another.at(key).median_ns;
          of_another += interval.low <= other && other <= interval.high ? 1 : 0;
          ++all;
        }
      }
      EXPECT_GT(covered, 0.92 * all) << common_sd << " " << own_sd << " " << known;
      EXPECT_GT(of_another, 0.78 * all) << common_sd << " " << own_sd << " " << known;
    }
  }
}

TEST(BetweenRuns, OneWildRunOfOnePointDoesNotWidenTheOthers) {
  Machine machine{.common_sd = 0, .own_sd = 0.01};
  std::vector<PastRun> earlier = machine.runs(6, 10);
  const RunMedians now = machine.run(10).points;
  const auto before = fit_between_runs(earlier, now);
  earlier[3].points["p4"].median_ns *= 2;
  const auto after = fit_between_runs(earlier, now);
  const auto width = [](const Interval& interval) { return std::log(interval.high / interval.low); };
  EXPECT_LT(width(after->ci95_ns.at("p7")), 1.3 * width(before->ci95_ns.at("p7")));
  EXPECT_LT(width(after->ci95_ns.at("p4")), 4 * width(before->ci95_ns.at("p4")));
}

// Other work held the cores: the earlier run is out of all proportion.
TEST(BetweenRuns, ADisturbedRunDoesNotWidenTheIntervalsOfLaterOnes) {
  Machine machine{.common_sd = 0.01, .own_sd = 0.01};
  std::vector<PastRun> earlier = machine.runs(6, 10);
  RunMedians now = machine.run(10).points;
  const auto width = [](const auto& fit) {
    const Interval& interval = fit->ci95_ns.at("p4");
    return std::log(interval.high / interval.low);
  };
  const double before = width(fit_between_runs(earlier, now));
  double factor = 20;
  for (auto& [key, point] : earlier[2].points) {
    point.median_ns *= factor += 5;
  }
  EXPECT_LT(width(fit_between_runs(earlier, now)), 3 * before);
  // The run at hand: its interval reaches what the others measured.
  factor = 20;
  for (auto& [key, point] : now) {
    point.median_ns *= factor += 5;
  }
  EXPECT_LT(fit_between_runs(earlier, now)->ci95_ns.at("p4").low, 5.1e6);
}

TEST(BetweenRuns, ARunThatKnowsItsMedianLessWellHasAWiderInterval) {
  Machine machine{.common_sd = 0, .own_sd = 0.01};
  const std::vector<PastRun> earlier = machine.runs(6, 10);
  RunMedians now = machine.run(10).points;
  const auto sure = fit_between_runs(earlier, now);
  now["p4"].standard_error = 0.1;
  const auto unsure = fit_between_runs(earlier, now);
  EXPECT_LT(unsure->ci95_ns.at("p4").low, 0.9 * sure->ci95_ns.at("p4").low);
  EXPECT_EQ(unsure->ci95_ns.at("p5"), sure->ci95_ns.at("p5"));
}

TEST(BetweenRuns, OtherSweepsAndMissingPointsAreLeftOut) {
  Machine machine{.common_sd = 0.01, .own_sd = 0.01};
  std::vector<PastRun> earlier = machine.runs(3, 4);
  earlier.emplace_back().points["elsewhere"] = {.median_ns = 5, .standard_error = 0};
  earlier[1].points.erase("p2");
  earlier[2].points.erase("p2");
  const auto fit = fit_between_runs(earlier, machine.run(4).points);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->spread.runs, 4);
  EXPECT_FALSE(fit->ci95_ns.contains("p2"));
  EXPECT_TRUE(fit->ci95_ns.contains("p1"));
}

TEST(BetweenRuns, EqualMediansGiveNoInterval) {
  Machine machine;
  const auto fit = fit_between_runs(machine.runs(4, 3), machine.run(3).points);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->ci95_ns.empty());
}

TEST(PointKey, HoldsAllThatATimeMayRestOnButTheBuildAndTheHour) {
  const ResultDocument document = testing::sample_document();
  const Session session = document.sessions.front();
  const Point point = document.points.front();
  const std::string key = PointKeys(document, session).of(point);
  ResultDocument other = document;
  other.context.software["git"] = "another";
  other.context.run_id = "another";
  Session later = session;
  later.build = "another";
  later.started = "2027-01-01T00:00:00+00:00";
  EXPECT_EQ(PointKeys(other, later).of(point), key);
  other.context.software["onednn"] = "3.0";
  EXPECT_NE(PointKeys(other, session).of(point), key);
  other = document;
  other.sweep.workload_options["image-size"] = "96";
  EXPECT_NE(PointKeys(other, session).of(point), key);
  later.threads["OMP_NUM_THREADS"] = "1";
  EXPECT_NE(PointKeys(document, later).of(point), key);
  EXPECT_NE(PointKeys(document, session).of(document.points[1]), key);
}

TEST(MediansOf, AreThoseOfPointsThatTheSessionMeasuredAlone) {
  ResultDocument document = testing::sample_document();
  EXPECT_TRUE(medians_of(document, 0).empty()) << "both points are of two sessions";
  for (MeasuredRound& round : document.points[0].rounds) {
    round.session = 1;
  }
  const RunMedians medians = medians_of(document, 1);
  ASSERT_EQ(medians.size(), 1U);
  EXPECT_EQ(medians.begin()->second.median_ns, document.points[0].stats.median_ns);
  EXPECT_NEAR(medians.begin()->second.standard_error, std::log(1.01 / 0.99) / 3.92, 1e-12);
}

TEST(BetweenRunsInWords, SayHowWideTheIntervalsAreAndWhereThereAreNone) {
  ResultDocument document = testing::sample_document();
  const auto set = [&](std::size_t point, double share) {
    SampleStats& stats = document.points[point].stats;
    stats.ci95_between_ns = Interval{stats.median_ns * (1 - share), stats.median_ns * (1 + share / 2)};
  };
  for (Point& point : document.points) {
    point.stats.ci95_between_ns = std::nullopt;
  }
  document.sessions.back().history = std::nullopt;
  EXPECT_EQ(between_runs_in_words(document),
            "Between runs: no interval is known; this machine's history has fewer than 3 runs of any point "
            "[repeat the run, without --no-cache].");
  document.sessions.back().history = {.runs = 8, .since = "2026-02-01T09:00:00+01:00"};
  set(0, 0.052);
  EXPECT_EQ(between_runs_in_words(document),
            "Between runs: 95 % intervals of ±5.2 % at the median point (8 runs since 2026-02-01); none at 1 "
            "of 2 points, of which it has fewer than 3 runs.");
  set(0, 20);
  set(1, 20);
  EXPECT_EQ(
      between_runs_in_words(document),
      "Between runs: 95 % intervals of more than ±100 % at the median point (8 runs since 2026-02-01).");
  EXPECT_EQ(between_runs_in_words({}), "");
}

PastRun calibrated(double arithmetic_ns) {
  PastRun run;
  run.calibration["host"] = {.arithmetic_ns = arithmetic_ns, .copy_ns = 50};
  return run;
}

TEST(UnusualSpeed, IsSaidFromThreeRunsOnWhereItDiffersByMoreThanFivePercent) {
  Session session;
  session.calibration["host"] = {.median = {.arithmetic_ns = 112, .copy_ns = 51}, .readings = 5};
  const std::vector<PastRun> earlier{calibrated(101), calibrated(100), calibrated(99), calibrated(100)};
  const auto sentence = [&](std::size_t runs) {
    Session judged = session;
    judged.calibration = with_usual(judged.calibration, std::span(earlier).first(runs));
    return unusual_speed(judged).value_or("");
  };
  EXPECT_EQ(sentence(2), "");
  EXPECT_EQ(sentence(4),
            "arithmetic on the host takes 1.12× its usual time on this machine (median of 4 runs)");
  session.calibration["host"].median = {.arithmetic_ns = 104, .copy_ns = 51};
  EXPECT_EQ(sentence(4), "");
  session.calibration["host"].median = {.arithmetic_ns = 104, .copy_ns = 40};
  EXPECT_EQ(sentence(4), "copying on the host takes 0.80× its usual time on this machine (median of 4 runs)");
}

}  // namespace
}  // namespace bench
