#include "bench/result/fleet.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

RunContext context_of(const std::string& machine, const std::string& host, const std::string& device) {
  RunContext context;
  context.machine = machine;
  context.google_benchmark["host_name"] = host;
  context.device.id = device;
  return context;
}

std::map<std::string, std::string> names_of(const std::vector<RunContext>& contexts) {
  std::vector<const RunContext*> pointers;
  for (const RunContext& context : contexts) {
    pointers.push_back(&context);
  }
  return machine_names(pointers);
}

TEST(Fleet, AMachineIsCalledByItsHostAndByMoreOnlyWhereHostsShareAName) {
  const RunContext unnamed = context_of("", "c", "cpu");
  EXPECT_THAT(names_of({context_of("0123456789", "a", "cpu"), context_of("0123456789", "a", "cpu"),
                        context_of("9876543210", "b", "cpu"), unnamed}),
              ElementsAre(Pair("0123456789", "a"), Pair("9876543210", "b")));
  EXPECT_THAT(names_of({context_of("0123456789", "a", "cuda:0"), context_of("9876543210", "a", "cuda:1")}),
              ElementsAre(Pair("0123456789", "a cuda:0"), Pair("9876543210", "a cuda:1")));
  EXPECT_THAT(names_of({context_of("0123456789", "a\n", "cpu"), context_of("9876543210", "a\n", "cpu")}),
              ElementsAre(Pair("0123456789", "a\\n 012345"), Pair("9876543210", "a\\n 987654")));
  EXPECT_THAT(names_of({context_of("0123456789", "", "cpu"), context_of("0123456780", "", "cpu")}),
              ElementsAre(Pair("0123456780", "0123456780"), Pair("0123456789", "0123456789")));
}

TEST(Fleet, ADistanceIsTheMedianOverThePointsThatOthersHaveToo) {
  // The third machine is 0.2 above the others everywhere, the fourth at one of three points only.
  const std::vector<std::vector<double>> rows{
      {1, 1, 1.2, 1}, {2, 2, 2.2, 2}, {3, 3, 3.2, 3.5}, {kNone, kNone, kNone, 9}};
  const std::vector<double> distances = shared_distances(rows);
  ASSERT_EQ(distances.size(), 4U);
  EXPECT_NEAR(distances[2], 0.2, 1e-12);
  EXPECT_NEAR(distances[0], 0, 1e-12);
  EXPECT_NEAR(distances[3], 0, 1e-12);
  EXPECT_TRUE(std::isnan(shared_distances({{1, 1, kNone}}).at(2)));
  EXPECT_THAT(shared_distances({}), IsEmpty());
}

TEST(Fleet, TheMedianMachineIsInTheMiddleAndOfTwoTheSlower) {
  MachineTimes times{.machines = {"a", "b", "c"}, .names = {}, .points = {"p"}, .levels = {{3, 1, 2}}};
  EXPECT_THAT(times.ranked(), ElementsAre(1, 2, 0));
  EXPECT_EQ(times.median(), 2U);
  times.levels = {{3, 1, 2, 4}, {kNone, kNone, kNone, kNone}};
  EXPECT_EQ(times.median(), 0U) << "of four the third";
  times.levels = {{3, 1, kNone}};
  EXPECT_EQ(times.median(), 0U);
  times.levels = {{3, kNone, kNone}, {kNone, 1, kNone}};
  EXPECT_FALSE(times.median()) << "no point is shared";
}

TEST(Fleet, AMachinesTimeIsTheMedianOfItsResults) {
  std::vector<ResultDocument> documents(4);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    documents[i].context = context_of(i < 3 ? "one" : "other", i < 3 ? "a" : "b", "cpu");
    Point& point = documents[i].points.emplace_back();
    point.name = i == 3 ? "second" : "first";
    point.stats.median_ns = std::exp(static_cast<double>(i));
  }
  const std::vector<Pool> pools = pool({&documents[0], &documents[1], &documents[2], &documents[3]});
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_FALSE(pools.front().holds_one_a_machine());
  const MachineTimes& times = pools.front().times;
  EXPECT_THAT(times.names, ElementsAre("a", "b"));
  EXPECT_THAT(times.points, ElementsAre("first", "second"));
  EXPECT_NEAR(times.levels[0][0], 1, 1e-12);
  EXPECT_TRUE(std::isnan(times.levels[0][1]));
  EXPECT_NEAR(times.levels[1][1], 3, 1e-12);
}

// Points at batch 1, 2, … of so many ns, within 10 %.
ResultDocument result_on(const std::string& machine, const std::vector<double>& ns) {
  ResultDocument document;
  document.context = context_of(machine, machine, "cpu");
  for (std::size_t i = 0; i < ns.size(); ++i) {
    Point& point = document.points.emplace_back();
    point.name = "batch:" + std::to_string(i + 1);
    point.stats.median_ns = ns[i];
    point.stats.ci95_ns = Interval{0.9 * ns[i], 1.1 * ns[i]};
    point.memory.peak_measured = static_cast<std::int64_t>(ns[i]);
  }
  return document;
}

TEST(Fleet, ItsPlannedPointsAreThoseOfTheMedianMachine) {
  ResultDocument a = result_on("a", {100});
  ResultDocument b = result_on("b", {110});
  set_modelled_points(a, {{.name = "planned by a", .params = {}, .origin = Origin::planned}});
  set_modelled_points(b, {{.name = "planned by b", .params = {}, .origin = Origin::planned}});
  const ResultDocument document = pool({&a, &b}).front().document();
  ASSERT_EQ(document.points.size(), 2U);
  EXPECT_TRUE(document.points.front().is_measured());
  EXPECT_EQ(document.points.back().name, "planned by b");
}

TEST(Fleet, ItsResultIsTheMedianMachinesFromTheFastestToTheSlowest) {
  const ResultDocument a = result_on("a", {100, 210});
  const ResultDocument b = result_on("b", {110, 195, 500});
  const ResultDocument c = result_on("c", {120, 200});
  const std::vector<Pool> pools = pool({&a, &b, &c});
  ASSERT_EQ(pools.size(), 1U);
  const ResultDocument all = pools.front().document();
  EXPECT_EQ(all.context.machine, "b");
  ASSERT_EQ(all.points.size(), 3U);
  EXPECT_EQ(all.points[0].stats.median_ns, 110);
  EXPECT_EQ(all.points[1].stats.median_ns, 195) << "the fastest here, but of the median machine";
  EXPECT_NEAR(all.points[1].stats.ci95_between_ns->low, 175.5, 1e-9);
  EXPECT_NEAR(all.points[1].stats.ci95_between_ns->high, 231, 1e-9);
  EXPECT_EQ(all.points[1].stats.ci95_ns->low, 175.5) << "its own";
  EXPECT_EQ(all.points[0].memory.peak_measured, 120);
  EXPECT_FALSE(all.points[2].stats.ci95_between_ns) << "on one machine";
}

TEST(Fleet, IsOfOneWorkloadAndDeviceAndSeveralMachines) {
  const ResultDocument a = result_on("a", {1});
  ResultDocument b = result_on("", {1});
  EXPECT_EQ(pool({&a, &b}).size(), 2U) << "a machine that does not say which it is";
  b.context.machine = "a";
  EXPECT_EQ(pool({&a, &b}).size(), 2U) << "one machine twice";
  b.context.machine = "b";
  EXPECT_EQ(pool({&a, &b}).size(), 1U);
  b.context.workload_file = WorkloadFile{.format = "onnx", .path = "", .name = "", .hash = "1a2b3c4d"};
  EXPECT_EQ(pool({&a, &b}).size(), 2U) << "another graph of the same name";
  b.context.workload_file.reset();
  b.sweep.workload = "other";
  EXPECT_EQ(pool({&a, &b}).size(), 2U);
}

TEST(Fleet, AnOutlierIsBeyondBothTheSpreadAndTheLeast) {
  // Median 0.005 and median distance 0.01, of eight: a robust deviation of 0.0169, of which 3.5 are 0.059.
  const std::vector<double> values{0, 0.01, -0.01, 0.02, -0.02, 0.01, 0, 0.07};
  EXPECT_NEAR(robust_deviation(values, median(values)), 1.129 * 1.4826 * 0.01, 1e-12);
  EXPECT_THAT(outliers_of(values, 0.03), ElementsAre(7));
  EXPECT_THAT(outliers_of(values, 0.08), IsEmpty()) << "too small to matter";
  std::vector<double> nearer = values;
  nearer.back() = 0.055;
  EXPECT_THAT(outliers_of(nearer, 0.03), IsEmpty()) << "within the spread";
  EXPECT_THAT(outliers_of(std::vector<double>{0, -0.1, 0, 0, kNone}, 0.03), ElementsAre(1));
}

TEST(Fleet, OfThreeMachinesNoneIsUnlikeTheRest) {
  EXPECT_THAT(outliers_of(std::vector<double>{0, 0, 1}, 0.03), IsEmpty());
  EXPECT_THAT(outliers_of(std::vector<double>{0, 0, 1, kNone}, 0.03), IsEmpty());
}

}  // namespace
}  // namespace bench
