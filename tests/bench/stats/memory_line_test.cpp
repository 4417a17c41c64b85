#include "bench/stats/memory_line.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "bench/stats/random.h"

namespace bench {
namespace {

using Points = std::vector<MemoryPoint>;

Points doubling(std::int64_t last, const std::function<std::int64_t(std::int64_t)>& bytes) {
  Points points;
  for (std::int64_t batch = 1; batch <= last; batch *= 2) {
    points.push_back({batch, bytes(batch)});
  }
  return points;
}

TEST(MemoryLine, FindsAnExactLine) {
  const auto line = fit_memory_line(doubling(64, [](std::int64_t b) { return 100'000 + 3'000 * b; }));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->fixed_bytes.value, 100'000, 1e-3);
  EXPECT_NEAR(line->slope_bytes.value, 3'000, 1e-3);
  EXPECT_NEAR(line->max_residual_bytes, 0, 1e-3);
  EXPECT_EQ(line->points, 7U);
  EXPECT_EQ(line->first_batch, 1);
  EXPECT_EQ(line->last_batch, 64);
  EXPECT_TRUE(line->steps.empty());
}

TEST(MemoryLine, TakesAnAllocatorsRoundingForNoStep) {
  std::mt19937_64 engine(5);
  const auto line = fit_memory_line(doubling(256, [&](std::int64_t b) {
    const double exact = 100'000.0 + 3'000.0 * static_cast<double>(b);
    return static_cast<std::int64_t>(exact * (1 + 0.004 * (2 * unit_draw(engine) - 1)));
  }));
  EXPECT_TRUE(line->steps.empty());
  EXPECT_NEAR(line->slope_bytes.value, 3'000, 60);
  EXPECT_GT(line->max_relative_residual, 0.0001);
  EXPECT_LT(line->max_relative_residual, 0.01);
}

// From batch 8 on, another algorithm holds 50,000 bytes more.
TEST(MemoryLine, ShowsAStepRatherThanAveragingIt) {
  const auto line = fit_memory_line(
      doubling(512, [](std::int64_t b) { return 100'000 + 3'000 * b + (b >= 8 ? 50'000 : 0); }));
  ASSERT_EQ(line->steps.size(), 1U);
  EXPECT_EQ(line->steps[0].batch, 8);
  EXPECT_NEAR(static_cast<double>(line->steps[0].bytes), 50'000, 1);
  EXPECT_NEAR(line->slope_bytes.value, 3'000, 1e-3);
  EXPECT_NEAR(line->fixed_bytes.value, 150'000, 1e-2);
  EXPECT_EQ(line->first_batch, 8);
  EXPECT_EQ(line->points, 7U);
}

TEST(MemoryLine, ShowsAStepAtTheLargestBatch) {
  const auto line = fit_memory_line(
      doubling(64, [](std::int64_t b) { return 100'000 + 3'000 * b + (b >= 64 ? 50'000 : 0); }));
  ASSERT_EQ(line->steps.size(), 1U);
  EXPECT_EQ(line->steps[0].batch, 64);
  EXPECT_NEAR(static_cast<double>(line->steps[0].bytes), 50'000, 1);
  EXPECT_NEAR(line->fixed_bytes.value, 100'000, 1e-2);
  EXPECT_EQ(line->last_batch, 32);
  // Beyond the step the prediction goes on from where memory is now: 150,000 + 3,000·b.
  EXPECT_EQ(line->largest_batch(150'000 + 3'000 * 100), 100);
  // Below it the old line holds, and between the two the step's batch does not fit.
  EXPECT_EQ(line->largest_batch(100'000 + 3'000 * 50), 50);
  EXPECT_EQ(line->largest_batch(100'000 + 3'000 * 70), 63);
}

TEST(MemoryLine, ShowsAStepDown) {
  const auto line = fit_memory_line(
      doubling(256, [](std::int64_t b) { return 300'000 + 3'000 * b - (b >= 16 ? 100'000 : 0); }));
  ASSERT_EQ(line->steps.size(), 1U);
  EXPECT_EQ(line->steps[0].batch, 16);
  EXPECT_NEAR(static_cast<double>(line->steps[0].bytes), -100'000, 1);
}

TEST(MemoryLine, LargestBatchFillsTheCapExactly) {
  const auto line = fit_memory_line(doubling(64, [](std::int64_t b) { return 100'000 + 3'000 * b; }));
  EXPECT_EQ(line->largest_batch(100'000 + 3'000 * 1000), 1000);
  EXPECT_EQ(line->largest_batch(100'000 + 3'000 * 1000 - 1), 999);
  EXPECT_EQ(line->largest_batch(103'000), 1);
  EXPECT_EQ(line->largest_batch(102'999), 0);
  EXPECT_EQ(line->largest_batch(5), 0);
}

TEST(MemoryLine, AFlatLineSetsNoLargestBatch) {
  const auto line = fit_memory_line(Points{{1, 500}, {2, 500}, {4, 500}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope_bytes.value, 0, 1e-9);
  EXPECT_FALSE(line->largest_batch(10'000));
  EXPECT_FALSE(fit_memory_line(Points{{1, 500}, {2, 400}})->largest_batch(10'000));
}

// Equal bytes beyond unlike weights: the weighted fit's rounding left a slope of 1e-25 bytes a sample, and
// with it a largest batch of 2^62.
TEST(MemoryLine, RoundingOfTheFitIsNoSlope) {
  const auto line = fit_memory_line(Points{{1, 58'060'224, 48'623'040},
                                           {2, 61'730'240, 52'293'056},
                                           {4, 58'060'224, 48'623'040},
                                           {8, 59'370'944, 49'933'760}});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->slope_bytes.value, 0);
  EXPECT_FALSE(line->largest_batch(std::int64_t{16} << 30));
}

TEST(MemoryLine, FewPointsSayLess) {
  EXPECT_FALSE(fit_memory_line(Points{}));
  EXPECT_FALSE(fit_memory_line(Points{{4, 500}}));
  EXPECT_FALSE(fit_memory_line(Points{{4, 500}, {4, 600}}));
  const auto two = fit_memory_line(Points{{4, 700}, {1, 400}});
  ASSERT_TRUE(two);
  EXPECT_NEAR(two->slope_bytes.value, 100, 1e-9);
  EXPECT_FALSE(two->slope_bytes.ci95);
  EXPECT_EQ(two->largest_batch(1000), 7);
}

TEST(MemoryLine, OfTheSameBatchTheLargestCounts) {
  const auto line = fit_memory_line(Points{{1, 400}, {2, 500}, {2, 450}, {4, 700}});
  EXPECT_NEAR(line->slope_bytes.value, 100, 1e-9);
}

TEST(MemoryLine, ManyPointsWithAStepAreSplitOnce) {
  Points points;
  for (std::int64_t batch = 1; batch <= 10'000; ++batch) {
    points.push_back({batch, 1'000'000 + 1'000 * batch + (batch >= 100 ? 5'000'000 : 0)});
  }
  const auto line = fit_memory_line(points);
  ASSERT_EQ(line->steps.size(), 1U);
  EXPECT_EQ(line->steps[0].batch, 100);
  EXPECT_EQ(line->points, 9'901U);
}

// Weights go up and down as algorithms change; the rest is 500 + 100 a sample.
TEST(MemoryLine, ChangesOfWeightsAreNamedAndNotFitted) {
  const auto line = fit_memory_line(
      Points{{1, 50'600, 50'000}, {2, 57'700, 57'000}, {4, 50'900, 50'000}, {8, 51'300, 50'000}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope_bytes.value, 100, 1e-6);
  EXPECT_NEAR(line->fixed_bytes.value, 50'500, 1e-6);
  EXPECT_TRUE(line->steps.empty());
  ASSERT_EQ(line->weight_steps.size(), 2U);
  EXPECT_EQ(line->weight_steps[0].batch, 2);
  EXPECT_EQ(line->weight_steps[0].from, 50'000);
  EXPECT_EQ(line->weight_steps[0].to, 57'000);
  EXPECT_EQ(line->weight_steps[1].batch, 4);
  ASSERT_EQ(line->segments.size(), 3U);
  EXPECT_NEAR(line->segments[1].fixed, 57'500, 1e-6);
  EXPECT_EQ(line->largest_batch(60'500), 100);
}

}  // namespace
}  // namespace bench
