#include "bench/text/intervals.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(WithInterval80, HasTheDigitsThatTheIntervalAllows) {
  EXPECT_EQ(with_interval80(983.7, {843.1, 1147.8}), "980 (840 to 1150)");
  EXPECT_EQ(with_interval80(30'510, {24'727, 37'647}), "31000 (25000 to 38000)");
  EXPECT_EQ(with_interval80(4.12, {2.91, 5.6}), "4.1 (2.9 to 5.6)");
  EXPECT_EQ(with_interval80(95, {8, 300}), "95 (8 to 300)");
  EXPECT_EQ(with_interval80(104, {97, 112}), "104 (97 to 112)");
  EXPECT_EQ(duration80(332e6, {240e6, 510e6}), "330 ms");
  EXPECT_EQ(duration80(35.6e6, {25.7e6, 54.7e6}), "36 ms");
  EXPECT_EQ(with_interval80(412.3, {395.8, 431.4}), "412 (396 to 431)");
}

TEST(PlusMinus, GivesBothEndsWhereTheySitUnevenly) {
  EXPECT_EQ(plus_minus(780, Interval{480, 1276}), "780 (480 to 1280)") << "not 780 ± 500";
  EXPECT_EQ(plus_minus(25.6, Interval{8, 57}), "26 (8 to 57)") << "not 30";
  EXPECT_EQ(plus_minus(33.1063, Interval{31.3535, 35.0665}), "33.1 (31.4 to 35.1)");
  EXPECT_EQ(plus_minus(5.363, Interval{3.722, 7.727}), "5.4 (3.7 to 7.7)") << "5 ± 2 would leave out 7.7";
  EXPECT_EQ(plus_minus(47'286, Interval{125, 97'790}), "47000 (130 to 98000)");
  EXPECT_EQ(plus_minus(1.303, Interval{1.298, 1.421}), "1.303 (1.298 to 1.421)") << "not 1.30 (1.30 to …)";
  EXPECT_EQ(plus_minus(755, Interval{310, 784}), "760 (310 to 780)");
  EXPECT_EQ(plus_minus_rate(338e9, Interval{0.921e9, 694e9}, "FLOP/s"), "340 (0.9 to 690) GFLOP/s");
  EXPECT_EQ(plus_minus_duration(2e6, Interval{1e6, 30e6}), "2.0 (1.0 to 30.0) ms");
  EXPECT_EQ(plus_minus(2, Interval{0, 30}), "2.0 (0 to 30.0)");
  EXPECT_EQ(plus_minus(9.99, Interval{0.0999, 20}), "10.0 (0.10 to 20.0)");
  EXPECT_EQ(plus_minus(4, Interval{0.1, 7.9}), "4.0 ± 3.9");
  EXPECT_EQ(plus_minus(4, Interval{0.01, 7.99}), "4.0 (0.010 to 8.0)") << "± would reach zero";
  EXPECT_EQ(plus_minus(-5.5, Interval{-9.5, 30}), "-6 (-10 to 30)");
}

TEST(PlusMinus, RoundingMovesTheValueLittle) {
  EXPECT_EQ(plus_minus(39.4, Interval{36.8, 42}), "39.4 ± 2.6") << "not 39 ± 3";
  EXPECT_EQ(plus_minus(39.1, Interval{36.1, 42.1}), "39 ± 3");
  EXPECT_EQ(plus_minus(0.25, Interval{0.05, 0.45}), "0.25 ± 0.20") << "not 0.3 ± 0.2";
  EXPECT_EQ(plus_minus(2'631'000, Interval{2'281'000, 2'981'000}), "2630000 ± 350000");
  EXPECT_EQ(plus_minus(-0.3, Interval{-5, 5}), "0 ± 5") << "not -0";
}

TEST(PlusMinus, AValueHasFourDigitsAtMost) {
  EXPECT_EQ(plus_minus(1234.56, Interval{1234.4, 1234.7}), "1235 ± 1");
  EXPECT_EQ(plus_minus(1234.5, Interval{1233.9, 1236.9}), "1235 (1234 to 1237)");
}

TEST(PlusMinus, ASingleRoundHasNoInterval) {
  EXPECT_EQ(plus_minus_of_rounds(777, Interval{700, 854}, 2), "777 ± 77");
  EXPECT_EQ(plus_minus_of_rounds(777, Interval{700, 850}, 1), "777 ± ?");
  EXPECT_EQ(plus_minus_of_rounds(777, std::nullopt, 3), "777 ± ?");
}

}  // namespace
}  // namespace bench
