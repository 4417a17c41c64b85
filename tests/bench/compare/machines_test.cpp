// Comparisons over several machines of one device model: what they differ by decides nothing.
#include "bench/compare/machines.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>

#include "bench/compare/formats.h"
#include "bench/compare/judgement.h"
#include "bench/compare/wording.h"
#include "tests/bench/compare/runs.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A run of four points of 10, 20, 30 and 40 ms, `factor` times as long, with 0.1 % of noise.
ComparedRun run_on(const std::string& machine, const std::string& side, int number, double factor) {
  Medians medians;
  for (int point = 0; point < 4; ++point) {
    const int noise = (number * 7 + point * 3 + (side == "NEW" ? 2 : 0)) % 5 - 2;
    medians[point_name(point)] = 10.0 * (point + 1) * factor * (1 + 0.0005 * noise);
  }
  ComparedRun run = compared_run_of(side + machine + std::to_string(number), medians);
  run.context.machine = machine.empty() ? "" : "id of " + machine;
  run.context.google_benchmark["host_name"] = machine;
  return run;
}

// By machine: how long it takes, and how much longer NEW does.
struct Fleet {
  std::vector<ComparedRun> base;
  std::vector<ComparedRun> next;

  void add(const std::string& machine, double level, double change, int runs) {
    for (int run = 0; run < runs; ++run) {
      const int number = static_cast<int>(base.size());
      base.push_back(run_on(machine, "BASE", number, level));
      next.push_back(run_on(machine, "NEW", number, level * change));
    }
  }
  Judgement judged(const std::function<void(Fleet&)>& edit = nullptr) const {
    Fleet fleet = *this;
    if (edit) {
      edit(fleet);
    }
    CompareSettings settings;
    settings.thresholds[Metric::time] = 0.01;
    return judge(match_runs(fleet.base, fleet.next, {}), settings);
  }
};

Fleet fleet_of(const std::vector<std::pair<double, double>>& machines, int runs) {
  Fleet fleet;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    fleet.add("node" + std::to_string(i + 1), machines[i].first, machines[i].second, runs);
  }
  return fleet;
}

void forget_machines(Fleet& fleet) {
  for (std::vector<ComparedRun>* const side : {&fleet.base, &fleet.next}) {
    for (ComparedRun& run : *side) {
      run.context.machine.clear();
    }
  }
}

const MetricChange& time_of(const Judgement& judgement, int point) {
  const auto found = std::ranges::find(judgement.points, point_name(point), &JudgedPoint::name);
  return *found->change(Metric::time);
}

// The second machine takes a tenth longer than the first, NEW 2 % longer on either.
TEST(CompareMachines, ATenthBetweenTwoMachinesHidesNoSlowdown) {
  const Fleet fleet = fleet_of({{1, 1.02}, {1.1, 1.02}}, 5);
  const Judgement judgement = fleet.judged();
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(judgement.suites.front().common_verdict, Verdict::slower);
  EXPECT_EQ(judgement.count(Verdict::slower), 4U);
  EXPECT_NEAR(time_of(judgement, 1).estimate.ratio.value, 1.02, 0.001);
  const Judgement pooled = fleet.judged(forget_machines);
  EXPECT_THAT(pooled.suites.front().machines, IsEmpty());
  EXPECT_NE(pooled.code, ExitCode::regression) << "runs of both machines in one heap";
}

// As many runs on the slow machine as on the fast one, but the slow one's are BASE's.
TEST(CompareMachines, OtherSharesOfTheRunsAreNoSpeedup) {
  Fleet fleet = fleet_of({{1, 1}, {1.1, 1}}, 5);
  fleet.base.erase(fleet.base.begin() + 2, fleet.base.begin() + 5);
  fleet.next.erase(fleet.next.begin() + 7, fleet.next.end());
  const Judgement judgement = fleet.judged();
  EXPECT_EQ(judgement.count(Verdict::faster), 0U);
  EXPECT_NEAR(time_of(judgement, 1).estimate.ratio.value, 1, 0.002);
  EXPECT_NEAR(time_of(judgement, 1).next / time_of(judgement, 1).base, 1, 0.002) << "the shown values too";
}

TEST(CompareMachines, OneRunOfEachOfManyMachinesIsEnough) {
  const Judgement judgement =
      fleet_of({{1, 1.021}, {1.3, 1.02}, {0.8, 1.019}, {1.1, 1.02}, {0.9, 1.0205}, {1.2, 1.0195}}, 1)
          .judged();
  EXPECT_EQ(judgement.code, ExitCode::regression);
  EXPECT_EQ(judgement.count(Verdict::slower), 4U);
  EXPECT_THAT(judgement.suites.front().machines, SizeIs(6));
  expect_words(subject_in_words(judgement));
}

// The change differs between the machines by more than it is: no number of runs makes it sure.
TEST(CompareMachines, ManyRunsOfAMachineDoNotHideHowMuchTheChangeDiffersBetweenThem) {
  const std::vector<std::pair<double, double>> machines{
      {1, 1.06}, {1, 0.99}, {1, 1.05}, {1, 0.98}, {1, 1.04}};
  const Judgement judgement = fleet_of(machines, 20).judged();
  EXPECT_EQ(judgement.code, ExitCode::inconclusive);
  const std::optional<Interval>& interval = judgement.suites.front().common->ratio.interval;
  ASSERT_TRUE(interval);
  EXPECT_LT(interval->low, 1);
  EXPECT_GT(interval->high, 1.1);
  expect_words(headlines(judgement).front());
}

TEST(CompareMachines, TheMachineThatChangedOtherwiseIsNamed) {
  const Judgement judgement =
      fleet_of({{1, 1.001}, {1.3, 1}, {0.8, 0.999}, {1.1, 1.12}, {0.9, 1.002}, {1.2, 0.9985}}, 1).judged();
  expect_words(headlines(judgement));
  const MetricChange& time = time_of(judgement, 0);
  EXPECT_NEAR(time.base, 10.5e6, 0.02e6) << "the mean of the two machines in the middle, node1 and node4";
  EXPECT_NEAR(time.next / time.base, 1, 0.003) << "node4's own change moves no other machine's";
  const std::vector<JudgedMachine>& found = judgement.suites.front().machines;
  EXPECT_TRUE(found.at(3).outlier);
  EXPECT_NEAR(found.at(3).ratio.value(), 1.12, 0.003);
  expect_words(headlines(fleet_of({{1, 1.001}, {1.3, 1}, {0.8, 0.999}, {1.1, 1.005}}, 1).judged()));
}

TEST(CompareMachines, ARowHasTheLeastAndTheLargestChangeOfTheMachines) {
  const Fleet fleet = fleet_of({{1, 1.03}, {1.3, 1.02}, {0.8, 1.025}, {1.1, 1.022}, {1, 1.028}}, 1);
  const Judgement judgement = fleet.judged();
  const MetricChange& time = time_of(judgement, 2);
  ASSERT_THAT(time.machines, SizeIs(5));
  EXPECT_NEAR(time.machines[0] / time.machines[1], 1.03 / 1.02, 0.003);
  EXPECT_THAT(machines_in_words(time), ::testing::MatchesRegex("\\+[12].[0-9] to \\+[23].[0-9] %"));
  const std::string table = as_table(judgement, 100, false);
  EXPECT_THAT(table, AllOf(HasSubstr("machines"), HasSubstr(machines_in_words(time))));
  expect_words(as_markdown(judgement, false));
  expect_words(as_table(fleet.judged(forget_machines), 100, false));
}

TEST(CompareMachines, AMachineOfOneSideIsLeftOutAndNamed) {
  Fleet fleet = fleet_of({{1, 1.02}, {1.1, 1.02}}, 5);
  fleet.base.push_back(run_on("old", "BASE", 0, 3));
  fleet.next.push_back(run_on("fresh", "NEW", 0, 0.2));
  fleet.next.push_back(run_on("", "NEW", 0, 0.2));
  const Matching matching = match_runs(fleet.base, fleet.next, {});
  EXPECT_THAT(matching.notes,
              ElementsAre("1 run of batch of resnet18 that name no machine are left out",
                          "fresh measured only NEW of batch of resnet18 and is left out (1 run)",
                          "old measured only BASE of batch of resnet18 and is left out (1 run)"));
  EXPECT_THAT(matching.runs.base, SizeIs(10));
  EXPECT_THAT(matching.runs.next, SizeIs(10));
  EXPECT_THAT(matching.suites.front().machines, SizeIs(2));
}

// One machine in common is compared as ever: by its runs.
TEST(CompareMachines, WithOneMachineInCommonItsRunsAreCompared) {
  Fleet fleet = fleet_of({{1, 1.02}}, 5);
  fleet.base.push_back(run_on("old", "BASE", 0, 3));
  const Judgement judgement = fleet.judged();
  EXPECT_THAT(judgement.suites.front().machines, IsEmpty());
  EXPECT_EQ(judgement.suites.front().runs.base, 5U);
  EXPECT_EQ(judgement.code, ExitCode::regression);
}

TEST(CompareMachines, WithNoneInCommonAllRunsAreComparedAndThatIsSaid) {
  Fleet fleet;
  for (int run = 0; run < 5; ++run) {
    fleet.base.push_back(run_on("old", "BASE", run, 1));
    fleet.next.push_back(run_on("fresh", "NEW", run, 1));
  }
  const Judgement judgement = fleet.judged();
  EXPECT_EQ(judgement.count(Verdict::same), 4U);
  EXPECT_THAT(judgement.notes,
              ElementsAre("No machine measured both sides of batch of resnet18: the machines "
                          "may make the difference"));
}

// A throttled machine is left out at its points; the others decide.
TEST(CompareMachines, AThrottledMachineIsLeftOut) {
  const Fleet fleet = fleet_of({{1, 1}, {1.3, 1}, {0.8, 1}, {1.1, 1}, {0.9, 1}}, 1);
  const Judgement judgement = fleet.judged([](Fleet& edited) {
    edited.next[2].points[1].flags = {"throttled:hw_thermal_slowdown"};
    edited.next[2].points[1].median_ns *= 2;
  });
  EXPECT_EQ(judgement.count(Verdict::same), 4U);
  EXPECT_THAT(
      judgement.notes,
      ElementsAre("node3 is left out at 1 of 4 points: NEW only was throttled (hw_thermal_slowdown)"));
  EXPECT_TRUE(std::isnan(time_of(judgement, 1).machines.at(2)));
  EXPECT_EQ(schema_errors(as_json(judgement), kCompareSchema), "");
}

TEST(CompareMachines, APointThatNoMachineMeasuredOnBothSidesIsInconclusive) {
  const Judgement judgement = fleet_of({{1, 1}, {1.3, 1}}, 3).judged([](Fleet& fleet) {
    for (std::size_t run = 0; run < 3; ++run) {
      std::erase_if(fleet.base[run].points,
                    [](const RunPoint& point) { return point.name == point_name(1); });
      std::erase_if(fleet.next[run + 3].points,
                    [](const RunPoint& point) { return point.name == point_name(1); });
    }
  });
  EXPECT_EQ(time_of(judgement, 1).verdict, Verdict::inconclusive);
  EXPECT_EQ(time_of(judgement, 1).reason, "no machine measured it on both sides");
}

// The machines need different amounts, NEW one byte more on each.
TEST(CompareMachines, BytesAreComparedOnEachMachine) {
  const Fleet fleet = fleet_of({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1);
  const auto hungrier_on = [](std::size_t machines) {
    return [machines](Fleet& edited) {
      for (std::size_t i = 0; i < 4; ++i) {
        edited.base[i].points[0].tracked_bytes += static_cast<std::int64_t>(1000 * i);
        edited.next[i].points[0].tracked_bytes +=
            static_cast<std::int64_t>(1000 * i) + (i < machines ? 1 : 0);
      }
    };
  };
  EXPECT_EQ(fleet.judged(hungrier_on(4)).count(Verdict::hungrier), 1U);
  EXPECT_EQ(fleet.judged(hungrier_on(3)).count(Verdict::hungrier), 0U);
}

// Each machine has its own card and driver; a driver that is another one in NEW is a difference.
TEST(CompareMachines, WhatTheMachinesDifferByIsNoDifferenceOfTheSides) {
  const Fleet fleet = fleet_of({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1);
  const auto on_drivers = [](const std::string& last) {
    return [last](Fleet& edited) {
      for (std::size_t i = 0; i < 4; ++i) {
        for (ComparedRun* const run : {&edited.base[i], &edited.next[i]}) {
          run->context.device.details["uuid"] = std::to_string(i);
          run->context.software["driver"] = i == 3 ? "535" : "550";
        }
      }
      edited.next[3].context.software["driver"] = last;
    };
  };
  EXPECT_THAT(fleet.judged(on_drivers("535")).differences, IsEmpty());
  const std::vector<Difference> differences = fleet.judged(on_drivers("550")).differences;
  ASSERT_THAT(differences, SizeIs(1));
  EXPECT_EQ(differences.front().what, "driver");
  EXPECT_EQ(differences.front().base, "535");
  EXPECT_EQ(differences.front().next, "550");
}

TEST(CompareMachines, TheJsonNamesThem) {
  const Judgement judgement = fleet_of({{1, 1}, {1.3, 1}, {0.8, 1}, {1.1, 1.12}}, 2).judged();
  const Json json = Json::parse(as_json(judgement));
  EXPECT_EQ(schema_errors(json.dump(), kCompareSchema), "");
  const Json& machines = json["suites"][0]["machines"];
  ASSERT_EQ(machines.size(), 4U);
  EXPECT_EQ(machines[3]["name"], "node4");
  EXPECT_EQ(machines[3]["outlier"], true);
  EXPECT_EQ(json["points"][0]["changes"][0]["machines"].size(), 4U);
}

}  // namespace
}  // namespace bench::testing
