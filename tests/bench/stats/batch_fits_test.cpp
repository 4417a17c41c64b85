#include "bench/stats/batch_fits.h"

#include <gmock/gmock.h>

#include <vector>

namespace bench {
namespace {

const std::vector<ThroughputPoint> kRates{
    {1, 50, Interval{49, 51}}, {2, 100, Interval{99, 101}}, {4, 102, Interval{101, 103}}};

TEST(BatchFits, TellTheBatchToUseAndTheLargestThatFits) {
  const BatchFits fits(kRates, std::vector<MemoryPoint>{{1, 110}, {2, 120}, {4, 140}});
  EXPECT_EQ(fits.index(), 1U);
  EXPECT_EQ(fits.largest_batch(200), 10);
  EXPECT_EQ(fits.largest_batch(std::nullopt), std::nullopt);
}

TEST(BatchFits, LeaveOutPointsWhoseBytesAreNotKnown) {
  const BatchFits fits(kRates, std::vector<MemoryPoint>{{1, 110}, {2, 0}, {4, 140}});
  EXPECT_EQ(fits.largest_batch(200), 10);
  EXPECT_FALSE(BatchFits(kRates, std::vector<MemoryPoint>{{1, 110}, {2, 0}}).memory);
}

TEST(BatchFits, OfOneBatchAreNone) {
  const BatchFits fits(std::vector{kRates.front()}, std::vector<MemoryPoint>{{1, 110}});
  EXPECT_FALSE(fits.saturation);
  EXPECT_EQ(fits.index(), 0U);
  EXPECT_EQ(fits.largest_batch(200), std::nullopt);
}

}  // namespace
}  // namespace bench
