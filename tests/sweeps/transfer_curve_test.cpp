// The arithmetic of the transfer sweep, on curves whose answers are known.
#include "sweeps/series/size_curve.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

#include "bench/error.h"
#include "bench/stats/random.h"
#include "bench/stats/statistics.h"
#include "bench/text/axis.h"
#include "sweeps/transfer/answer.h"
#include "tests/bench/support/golden_words.h"

namespace bench::sweeps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kKiB = 1024;

// t = latency + bytes / bandwidth from 1 KiB to 1 GiB, each off by up to ±`noise` of itself.
std::vector<SizePoint> curve(double latency_ns, double bytes_per_s, double noise = 0,
                             std::uint64_t seed = 1) {
  std::mt19937_64 engine(seed);
  std::vector<SizePoint> points;
  for (double bytes = kKiB; bytes <= kKiB * kKiB * kKiB; bytes *= 2) {
    const double exact = latency_ns + bytes / bytes_per_s * 1e9;
    const double ns = exact * (1 + noise * (2 * unit_draw(engine) - 1));
    points.push_back({.bytes = bytes, .ns = {.value = ns, .ci95 = Interval{0.99 * ns, 1.01 * ns}}});
  }
  return points;
}

TEST(SizeLine, IsExactOnAnExactLine) {
  const auto line = fit_size_line(curve(8000, 12e9));
  ASSERT_TRUE(line && line->bytes_per_s);
  EXPECT_NEAR(line->latency_ns.value, 8000, 1e-3);
  EXPECT_NEAR(line->bytes_per_s->value, 12e9, 1);
  EXPECT_NEAR(line->at_ns(1e6), 8000 + 1e6 / 12, 1e-3);
  EXPECT_FALSE(fit_size_line({}));
}

TEST(SizeCurve, LatencyAndBandwidthAreExactOnAnExactLine) {
  const auto found = fit_size_curve(curve(8000, 12e9));
  ASSERT_TRUE(found && found->bytes_per_s && found->half_bytes());
  EXPECT_NEAR(found->latency_ns.value, 8000, 1e-3);
  EXPECT_NEAR(found->bytes_per_s->value, 12e9, 1e3);
  EXPECT_NEAR(found->half_bytes()->value, 96'000, 1);  // 8 µs of 12 GB/s
  for (const double bytes : {10.0, 1024.0, 1500.0, 1e6, 1e10}) {
    EXPECT_NEAR(found->at_ns(bytes), 8000 + bytes / 12, 1e-6 * bytes + 1e-3) << bytes;
  }
}

TEST(SizeCurve, IntervalsHoldTheTruthUnderNoise) {
  int latency_held = 0;
  int bandwidth_held = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto found = fit_size_curve(curve(8000, 12e9, 0.05, seed));
    ASSERT_TRUE(found && found->latency_ns.ci95 && found->bytes_per_s);
    const auto holds = [](const Estimate& estimate, double value) {
      return estimate.low() <= value && value <= estimate.high();
    };
    latency_held += holds(found->latency_ns, 8000) ? 1 : 0;
    bandwidth_held += holds(*found->bytes_per_s, 12e9) ? 1 : 0;
    EXPECT_TRUE(holds(*found->half_bytes(), found->half_bytes()->value));
    EXPECT_NEAR(found->latency_ns.value, 8000, 800);
  }
  EXPECT_GE(latency_held, 88);
  EXPECT_GE(bandwidth_held, 88);
}

TEST(SizeCurve, PassesThroughTheMeasuredPoints) {
  const auto points = curve(8000, 12e9, 0.1, 3);
  const auto found = fit_size_curve(points);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pieces.size(), points.size() + 1);
  for (const SizePoint& point : points) {
    EXPECT_NEAR(found->at_ns(point.bytes), point.ns.value, 1e-9 * point.ns.value);
  }
}

// 1 µs + n / 24 GB/s up to 1 MiB, then 10 GB/s only: half of that is reached within the first part.
TEST(SizeCurve, HalfOfASlowerEndIsReachedEarlier) {
  auto points = curve(1000, 24e9);
  for (SizePoint& point : points) {
    point.ns.value += std::max(0.0, point.bytes - 0x1p20) * (1 / 10.0 - 1 / 24.0);
  }
  const auto found = fit_size_curve(points);
  ASSERT_TRUE(found && found->half_bytes());
  EXPECT_NEAR(found->half_bytes()->value, 1000 / (1 / 5.0 - 1 / 24.0), 1);
}

// No latency: a copy of the smallest size moves half of the bandwidth already.
TEST(SizeCurve, HasNoHalfWhereItIsReachedFromTheStart) {
  const auto found = fit_size_curve(curve(-1e-6, 12e9));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->half_bytes());
}

// 8 µs whatever is copied up to 96,000 bytes, then bytes / 12 GB/s.
TEST(SizeCurve, AFlatStartIsItsLatency) {
  for (const double noise : {0.0, 0.03}) {
    auto points = curve(0, 12e9, noise, 7);
    const auto start = curve(8000, 1e15, noise, 7);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].ns.value = std::max(points[i].ns.value, start[i].ns.value);
    }
    const auto found = fit_size_curve(points);
    ASSERT_TRUE(found && found->bytes_per_s && found->half_bytes());
    EXPECT_NEAR(found->latency_ns.value, 8000, 8000 * noise + 1);
    EXPECT_NEAR(found->bytes_per_s->value, 12e9, 12e9 * noise + 1e4);
    EXPECT_NEAR(found->half_bytes()->value, 48'000, 48'000 * 2 * noise + 10);
  }
}

TEST(SizeCurve, AnEndThatHardlyGrowsLeavesNoBandwidth) {
  auto points = curve(1000, 10e9);
  for (SizePoint& point : points) {
    point.ns.value = std::min(point.ns.value, 1e6);
  }
  const auto found = fit_size_curve(points);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->bytes_per_s);
  EXPECT_FALSE(found->half_bytes());
  EXPECT_NEAR(found->at_ns(1e12), 1e6, 1);
}

TEST(SizeCurve, RefusesWhatCannotBeFitted) {
  EXPECT_FALSE(fit_size_curve({}));
  EXPECT_FALSE(fit_size_curve(std::vector<SizePoint>{{.bytes = 1024, .ns = {.value = 5}}}));
  EXPECT_FALSE(fit_size_curve(
      std::vector<SizePoint>{{.bytes = 1024, .ns = {.value = 50}}, {.bytes = 2048, .ns = {.value = 5}}}));
  auto points = curve(8000, 12e9);
  points.insert(points.begin(), points.front());
  EXPECT_FALSE(fit_size_curve(points));  // one size twice
  points = curve(8000, 12e9);
  points[2].ns.value = 0;
  EXPECT_FALSE(fit_size_curve(points));
  EXPECT_THAT(held_out_errors(points), IsEmpty());
  for (SizePoint& point : points) {
    point.ns.value = 8000 * (1 + point.bytes / 1e12);  // grows by a thousandth
  }
  EXPECT_FALSE(fit_size_curve(points));
}

TEST(HeldOutErrors, SizesAreNotAmongThoseFitted) {
  const auto exact = held_out_errors(curve(8000, 12e9));
  ASSERT_EQ(exact.size(), 10U);
  for (const HeldOut& held_out : exact) {
    EXPECT_NEAR(held_out.error, 0, 1e-9);
  }
  // One held-out size 30 % off shows as just that.
  auto points = curve(8000, 12e9);
  points[3].ns.value *= 1.3;
  EXPECT_NEAR(held_out_errors(points)[1].error, 1 - 1 / 1.3, 1e-9);
  EXPECT_THAT(held_out_errors(std::vector<SizePoint>(points.begin(), points.begin() + 4)), IsEmpty());
}

// Below 48,000 bytes 1 µs + bytes / 8 GB/s, above 5 µs + bytes / 24 GB/s: the lines meet there.
TEST(HeldOutErrors, ArePredictedWhereOneLineCannot) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 engine(seed);
    auto points = curve(1000, 8e9);
    for (SizePoint& point : points) {
      point.ns.value = std::min(point.ns.value, 5000 + point.bytes / 24e9 * 1e9) *
                       (1 + 0.03 * (2 * unit_draw(engine) - 1));
    }
    std::vector<double> errors;
    std::vector<double> straight;
    for (const HeldOut& held_out : held_out_errors(points)) {
      errors.push_back(held_out.error);
      straight.push_back(held_out.straight_error);
    }
    ASSERT_EQ(errors.size(), 10U);
    EXPECT_LT(median(errors), 0.06);
    better += median(errors) < median(straight) ? 1 : 0;
  }
  EXPECT_GE(better, 18);
}

TEST(TransferCrossover, IsWhereTheCurvesMeetLast) {
  const auto pinned = fit_size_curve(curve(10'000, 24e9));
  const auto pageable = fit_size_curve(curve(4000, 6e9));
  // 10 µs + n / 24 = 4 µs + n / 6 at n = 6 µs / (1/6 - 1/24) ns = 48,000 bytes.
  const auto crossed = crossing(*pinned, *pageable);
  ASSERT_TRUE(crossed);
  EXPECT_NEAR(*crossed, 48'000, 1e-2);
  EXPECT_NEAR(pinned->at_ns(*crossed), pageable->at_ns(*crossed), 1e-6);
  EXPECT_NEAR(*crossing(*pageable, *pinned), *crossed, 1e-6);
  EXPECT_FALSE(crossing(*fit_size_curve(curve(1000, 24e9)), *pageable));  // faster at every size
  EXPECT_FALSE(crossing(*pinned, *pinned));
}

TEST(TransferCrossover, IsTheFirstSizeFromWhichAllAreApart) {
  const auto pinned = curve(10'000, 24e9);
  const auto pageable = curve(4000, 6e9);
  EXPECT_EQ(faster_from(pinned, pageable), 64 * kKiB);  // of powers of two, the first above 48,000
  EXPECT_FALSE(faster_from(pageable, pinned));
  EXPECT_FALSE(faster_from(pinned, pinned));  // intervals touch
  EXPECT_FALSE(faster_from(pinned, {}));
  auto disturbed = pinned;
  disturbed[10].ns.ci95->high *= 10;  // 1 MiB: nobody knows there
  EXPECT_EQ(faster_from(disturbed, pageable), 2048 * kKiB);
  disturbed[10].ns.ci95.reset();  // a single sample
  EXPECT_EQ(faster_from(disturbed, pageable), 2048 * kKiB);
}

TEST(TransferSizes, ListsAndRanges) {
  EXPECT_THAT(parse_sizes("--sizes", "4KiB,1KiB,4096B"), ElementsAre(1024, 4096));
  EXPECT_THAT(parse_sizes("--sizes", "1KiB:16KiB:x4"), ElementsAre(1024, 4096, 16384));
  EXPECT_THAT(parse_sizes("--sizes", "1KiB:3KiB:x2,1MB"), ElementsAre(1024, 2048, 1'000'000));
}

TEST(TransferSizes, WhatIsWrongIsNamed) {
  for (const char* wrong : {"", "4", "4KiB,", "1KiB:2KiB", "1KiB:4KiB:+1", "1KiB:4KiB:x1", "1KiB:4KiB:x",
                            "2KiB:1KiB:x2", "-1KiB", "2048GiB", "1KiB:2KiB:x2:x2"}) {
    try {
      parse_sizes("--sizes", wrong);
      ADD_FAILURE() << wrong;
    } catch (const UsageError& error) {
      expect_words(error.what());
    }
  }
  EXPECT_THAT(parse_words("--kinds", "b,a,b", {"a", "b"}), ElementsAre("b", "a"));
  EXPECT_THROW(parse_words("--kinds", "a,,b", {"a", "b"}), UsageError);
}

}  // namespace
}  // namespace bench::sweeps
