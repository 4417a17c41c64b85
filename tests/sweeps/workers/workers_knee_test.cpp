// Where the knee is, and where harm begins.
#include "sweeps/workers/knee.h"

#include <gmock/gmock.h>

#include <vector>

namespace bench::sweeps {
namespace {

using ::testing::IsEmpty;

WorkersValue value_of(std::int64_t workers, double value, double half) {
  return {workers, {.value = value, .ci95 = Interval{value - half, value + half}}};
}

TEST(Knee, IsTheFirstWhoseLowerBoundReaches95Percent) {
  const std::vector<WorkersValue> au{value_of(0, 0.3, 0.01), value_of(1, 0.5, 0.01), value_of(2, 0.955, 0.01),
                                     value_of(4, 0.99, 0.005), value_of(8, 1.0, 0.005)};
  const auto knee = find_knee(au);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->workers, 4);  // 2 reaches it, but not with its lower bound
  EXPECT_EQ(knee->low, 2);
  EXPECT_EQ(knee->plateau_workers, 8);
}

TEST(Knee, OnePointHasNone) {
  EXPECT_FALSE(find_knee(std::vector<WorkersValue>{value_of(2, 1, 0.1)}));
  EXPECT_FALSE(find_knee(std::vector<WorkersValue>{}));
}

TEST(Harm, BeginsWhereItStaysBelowTheBest) {
  EXPECT_EQ(
      find_harm(std::vector<WorkersValue>{value_of(1, 100, 1), value_of(2, 190, 1), value_of(4, 180, 1),
                                          value_of(8, 189, 1), value_of(16, 170, 1), value_of(32, 120, 1)}),
      16);  // 4 is lower too, but 8 is not
}

TEST(Harm, IsNoneWithinTheIntervalsOrWithinTwoPercent) {
  EXPECT_FALSE(find_harm(std::vector<WorkersValue>{value_of(2, 190, 10), value_of(4, 180, 10)}));
  EXPECT_FALSE(find_harm(std::vector<WorkersValue>{value_of(2, 190, 0.1), value_of(4, 188, 0.1)}));
  EXPECT_FALSE(find_harm(std::vector<WorkersValue>{value_of(2, 190, 0.1), value_of(4, 200, 0.1)}));
  EXPECT_FALSE(find_harm(std::vector<WorkersValue>{value_of(2, 190, 0.1)}));
}

}  // namespace
}  // namespace bench::sweeps
