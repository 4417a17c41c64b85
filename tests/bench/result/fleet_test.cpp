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
    MeasuredPoint& point = documents[i].benchmarks.emplace_back();
    point.name = i == 3 ? "second" : "first";
    point.stats.median_ns = std::exp(static_cast<double>(i));
  }
  const MachineTimes times = times_by_machine({&documents[0], &documents[1], &documents[2], &documents[3]});
  EXPECT_THAT(times.names, ElementsAre("a", "b"));
  EXPECT_THAT(times.points, ElementsAre("first", "second"));
  EXPECT_NEAR(times.levels[0][0], 1, 1e-12);
  EXPECT_TRUE(std::isnan(times.levels[0][1]));
  EXPECT_NEAR(times.levels[1][1], 3, 1e-12);
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
