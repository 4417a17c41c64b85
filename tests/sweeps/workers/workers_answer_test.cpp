// Where the knee is, and where harm begins.
#include "sweeps/workers/answer.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace bench::sweeps {
namespace {

using Curve = std::vector<ThroughputPoint>;

ThroughputPoint value_of(std::int64_t workers, double value, double half) {
  return {.batch = workers, .per_s = value, .ci95 = Interval{value - half, value + half}};
}

TEST(Knee, IsTheFirstWhoseLowerBoundReaches95Percent) {
  const Curve au{value_of(0, 0.3, 0.01), value_of(1, 0.5, 0.01), value_of(2, 0.955, 0.01),
                 value_of(4, 0.99, 0.005), value_of(8, 1.0, 0.005)};
  const std::optional<Knee> knee = find_saturation(au);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->batch, 4);  // 2 reaches it, but not with its lower bound
  EXPECT_EQ(knee->low, 2);
  EXPECT_EQ(knee->best_batch, 8);
}

TEST(Knee, OnePointHasNone) {
  EXPECT_FALSE(find_saturation(Curve{value_of(2, 1, 0.1)}));
  EXPECT_FALSE(find_saturation(Curve{}));
}

TEST(Harm, BeginsWhereItStaysBelowTheBest) {
  EXPECT_EQ(find_harm(Curve{value_of(1, 100, 1), value_of(2, 190, 1), value_of(4, 180, 1),
                            value_of(8, 189, 1), value_of(16, 170, 1), value_of(32, 120, 1)}),
            16);  // 4 is lower too, but 8 is not
}

TEST(Harm, IsNoneWithinTheIntervalsOrWithinTwoPercent) {
  EXPECT_FALSE(find_harm(Curve{value_of(2, 190, 10), value_of(4, 180, 10)}));
  EXPECT_FALSE(find_harm(Curve{value_of(2, 190, 0.1), value_of(4, 188, 0.1)}));
  EXPECT_FALSE(find_harm(Curve{value_of(2, 190, 0.1), value_of(4, 200, 0.1)}));
  EXPECT_FALSE(find_harm(Curve{value_of(2, 190, 0.1)}));
}

// As the knee's: by the ends of the interval, and not by few rounds without one.
TEST(Starvation, IsKnownWhereTheIntervalLiesOnOneSideOfWhatFeeds) {
  const auto is_known = [](const Estimate& au, bool few_rounds) {
    LoaderPoint fewest;
    fewest.au = au;
    fewest.few_rounds = few_rounds;
    return Starvation{.fewest = &fewest}.is_known();
  };
  EXPECT_TRUE(is_known({.value = 0.99, .ci95 = Interval{0.96, 1}}, true));
  EXPECT_TRUE(is_known({.value = 0.6, .ci95 = Interval{0.5, 0.7}}, true));
  EXPECT_FALSE(is_known({.value = 0.99, .ci95 = Interval{0.84, 1}}, false));
  EXPECT_TRUE(is_known({.value = 0.99}, false));
  EXPECT_FALSE(is_known({.value = 0.99}, true));
}

}  // namespace
}  // namespace bench::sweeps
