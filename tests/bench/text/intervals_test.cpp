#include "bench/text/intervals.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(WithInterval80, HasTwoDigitsOfTheLowEnd) {
  EXPECT_EQ(with_interval80(983.7, {843.1, 1147.8}), "980 (840 to 1150)");
  EXPECT_EQ(with_interval80(30'510, {24'727, 37'647}), "31000 (25000 to 38000)");
  EXPECT_EQ(with_interval80(4.12, {2.91, 5.6}), "4.1 (2.9 to 5.6)");
  EXPECT_EQ(duration80(332e6, {240e6, 510e6}), "330 ms");
  EXPECT_EQ(duration80(35.6e6, {25.7e6, 54.7e6}), "36 ms");
  EXPECT_EQ(with_interval80(412.3, {395.8, 431.4}), "412 (396 to 431)") << "within 10 %";
}

TEST(PlusMinus, ALopsidedIntervalLeavesTheDigitsOfItsWiderSide) {
  EXPECT_EQ(plus_minus(28.3, Interval{7.95, 57.3}), "30 (8 to 60)");
  EXPECT_EQ(plus_minus(47'286, Interval{125, 97'790}), "50000 (130 to 100000)");
  EXPECT_EQ(plus_minus(1.303, Interval{1.298, 1.421}), "1.303 (1.298 to 1.421)") << "not 1.30 (1.30 to …)";
  EXPECT_EQ(plus_minus(755, Interval{310, 784}), "760 (310 to 780)");
  EXPECT_EQ(plus_minus_rate(338e9, Interval{0.921e9, 694e9}, "FLOP/s"), "300 (0.9 to 700) GFLOP/s");
  EXPECT_EQ(plus_minus_duration(2e6, Interval{1e6, 30e6}), "2 (1.0 to 30) ms") << "the first digit stays";
  EXPECT_EQ(plus_minus(2, Interval{0, 30}), "2 (0 to 30)");
  EXPECT_EQ(plus_minus(9.99, Interval{0.0999, 20}), "10 (0.10 to 20)");
}

TEST(PlusMinus, AValueHasFourDigitsAtMost) {
  EXPECT_EQ(plus_minus(1234.5, Interval{1234.4, 1234.9}), "1235 (1234 to 1235)");
}

TEST(PlusMinus, ASingleRoundHasNoInterval) {
  EXPECT_EQ(plus_minus_of_rounds(777, Interval{700, 850}, 2), "777 ± 77");
  EXPECT_EQ(plus_minus_of_rounds(777, Interval{700, 850}, 1), "777 ± ?");
  EXPECT_EQ(plus_minus_of_rounds(777, std::nullopt, 3), "777 ± ?");
}

}  // namespace
}  // namespace bench
