#include "bench/stats/saturation.h"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

using ThroughputPoints = std::vector<ThroughputPoint>;

ThroughputPoint point(std::int64_t batch, double per_s, double half_width = 0) {
  return {batch, per_s, Interval{per_s - half_width, per_s + half_width}};
}

TEST(Saturation, IsTheSmallestBatchWithin95PercentOfTheBest) {
  const auto saturation = find_saturation(
      ThroughputPoints{point(1, 50), point(2, 80), point(4, 94.9), point(8, 95), point(16, 100)});
  ASSERT_TRUE(saturation);
  EXPECT_EQ(saturation->batch, 8);
  EXPECT_EQ(saturation->per_s, 95);
  EXPECT_EQ(saturation->best_batch, 16);
  EXPECT_EQ(saturation->best_per_s, 100);
  EXPECT_EQ(saturation->low, 8);
  EXPECT_EQ(saturation->high, 8);
  EXPECT_FALSE(saturation->at_largest);
  EXPECT_FALSE(saturation->at_smallest);
}

TEST(Saturation, CountsTheLowerBoundAndGivesTheRangeThatIntervalsAllow) {
  // 95 % of 100 is 95. Batch 8's lower bound misses it (94), batch 16's reaches it (97).
  // Upper bounds: batch 4's 94 reaches 95 % of the best's lower bound, 0.95·97 = 92.15.
  // Lower bounds: 0.95·103 = 97.85 is reached by nobody but batch 32's 98.
  const auto saturation =
      find_saturation(ThroughputPoints{point(2, 80, 2), point(4, 92, 2), point(8, 96, 2), point(16, 99, 2),
                                       point(32, 99.5, 1.5), point(64, 100, 3)});
  EXPECT_EQ(saturation->batch, 16);
  EXPECT_EQ(saturation->low, 4);
  EXPECT_EQ(saturation->high, 32);
}

TEST(Saturation, TheBestNeedNotBeTheLargest) {
  const auto saturation =
      find_saturation(ThroughputPoints{point(1, 50), point(2, 99), point(4, 100), point(8, 70)});
  EXPECT_EQ(saturation->batch, 2);
  EXPECT_EQ(saturation->best_batch, 4);
  EXPECT_FALSE(saturation->at_largest);
}

TEST(Saturation, AtTheLargestBatchItMayLieBeyond) {
  const auto saturation = find_saturation(ThroughputPoints{point(1, 10), point(2, 20), point(4, 40)});
  EXPECT_EQ(saturation->batch, 4);
  EXPECT_TRUE(saturation->at_largest);
}

TEST(Saturation, AFlatCurveHasItAtTheSmallestBatch) {
  const auto saturation = find_saturation(ThroughputPoints{point(4, 101), point(1, 100), point(2, 99)});
  EXPECT_EQ(saturation->batch, 1);
  EXPECT_TRUE(saturation->at_smallest);
}

TEST(Saturation, NoisyPointsPlaceNone) {
  const auto saturation =
      find_saturation(ThroughputPoints{point(1, 60, 30), point(2, 90, 30), point(4, 100, 30)});
  ASSERT_TRUE(saturation);
  EXPECT_FALSE(saturation->batch);
  EXPECT_EQ(saturation->low, 1);  // 90 reaches 0.95·70
  EXPECT_EQ(saturation->high, 4);
}

// One round has no interval: it proves nothing, and hides nothing.
TEST(Saturation, PointsWithoutAnIntervalPlaceNone) {
  const auto saturation =
      find_saturation(ThroughputPoints{{1, 90, std::nullopt}, {2, 99, std::nullopt}, {4, 100, std::nullopt}});
  ASSERT_TRUE(saturation);
  EXPECT_FALSE(saturation->batch);
  EXPECT_FALSE(saturation->intervals_known);
  EXPECT_FALSE(saturation->range());
  EXPECT_EQ(saturation->low, 1);
  EXPECT_EQ(saturation->high, 4);
  const auto mixed =
      find_saturation(ThroughputPoints{{1, 90, std::nullopt}, point(2, 99, 1), point(4, 100, 1)});
  EXPECT_EQ(mixed->batch, 2);
  EXPECT_EQ(mixed->low, 1);
  EXPECT_FALSE(mixed->range());
  EXPECT_EQ(find_saturation(ThroughputPoints{point(2, 99, 1), point(4, 100, 1)})->range(), (Interval{2, 2}));
}

// Where noise leaves the saturation batch open, medians choose.
TEST(Saturation, NamesThePointToUseOfThoseGivenInAnyOrder) {
  const auto sure = find_saturation(ThroughputPoints{point(8, 100, 1), point(2, 60, 1), point(4, 97, 1)});
  EXPECT_EQ(sure->batch, 4);
  EXPECT_EQ(sure->index, 2U);
  const auto open = find_saturation(ThroughputPoints{point(1, 60, 30), point(2, 96, 30), point(4, 100, 30)});
  EXPECT_FALSE(open->batch);
  EXPECT_EQ(open->index, 1U);
  const auto unknown = find_saturation(ThroughputPoints{{1, 90}, {2, 94}, {4, 99}, {8, 100}});
  EXPECT_EQ(unknown->index, 2U);
  const auto predicted =
      find_saturation(ThroughputPoints{ThroughputPoint::predicted(1, 94), ThroughputPoint::predicted(2, 96),
                                       ThroughputPoint::predicted(4, 100)});
  EXPECT_EQ(predicted->batch, 2);
  EXPECT_EQ(predicted->index, 1U);
}

SaturationState state(const ThroughputPoints& points) {
  return find_saturation(points)->state;
}

TEST(Saturation, IsFlatWhereTheSmallestBatchMayBeAsFastAsTheBest) {
  const auto flat =
      find_saturation(ThroughputPoints{point(4, 98, 5), point(1, 97, 5), point(2, 100, 5), point(8, 80, 5)});
  EXPECT_EQ(flat->state, SaturationState::flat);
  EXPECT_EQ(flat->index, 1U) << "batch 1";
  EXPECT_EQ(flat->alike_to, 4) << "batch 8 is surely slower";
  // Even where no single interval proves a batch, or a larger one is proved by chance.
  EXPECT_EQ(state({point(1, 97, 8), point(2, 100, 8)}), SaturationState::flat);
  EXPECT_EQ(state({point(1, 97, 8), point(2, 100, 1)}), SaturationState::flat);
}

TEST(Saturation, IsUndecidedWhereIntervalsAreWide) {
  EXPECT_EQ(state({point(1, 97, 15), point(2, 100, 15), point(4, 99, 15)}), SaturationState::undecided);
  EXPECT_EQ(state({point(1, 97, 60), point(2, 100, 5), point(4, 99, 5)}), SaturationState::undecided)
      << "the smallest may be far slower";
  EXPECT_EQ(state({{1, 97}, {2, 100}}), SaturationState::undecided) << "intervals are not known";
  // It grows; up to where is hidden.
  EXPECT_EQ(state({point(1, 20, 2), point(2, 100, 30), point(4, 110, 30)}), SaturationState::undecided);
}

TEST(Saturation, IsPlacedWhereThroughputGrowsOrFalls) {
  EXPECT_EQ(state({point(1, 50, 5), point(2, 98, 5), point(4, 100, 5)}), SaturationState::placed);
  EXPECT_EQ(state({point(1, 20, 2), point(2, 100, 15), point(4, 110, 15)}), SaturationState::placed)
      << "though no lower bound reaches 95 % of the best";
  EXPECT_EQ(state({point(1, 100, 2), point(2, 80, 2), point(4, 70, 2)}), SaturationState::placed);
  EXPECT_EQ(state({point(1, 50, 20), point(2, 100, 20), point(4, 300, 90)}), SaturationState::placed)
      << "the largest is surely faster than all others";
}

TEST(Saturation, NeedsTwoBatches) {
  EXPECT_FALSE(find_saturation(ThroughputPoints{}));
  EXPECT_FALSE(find_saturation(ThroughputPoints{point(8, 100)}));
  EXPECT_FALSE(find_saturation(ThroughputPoints{point(8, 100), point(8, 101)}));
  EXPECT_TRUE(find_saturation(ThroughputPoints{point(8, 100), point(16, 101)}));
}

}  // namespace
}  // namespace bench
