// The arithmetic of the transfer sweep, on curves whose answers are known.
#include "sweeps/transfer/model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "bench/error.h"
#include "bench/measure/random.h"
#include "sweeps/transfer/curve.h"
#include "sweeps/transfer/pcie.h"
#include "sweeps/transfer/sizes.h"

namespace bench::sweeps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kKiB = 1024;

// t = latency + bytes / bandwidth from 1 KiB to 1 GiB, each off by up to ±`noise` of itself.
std::vector<CopyTime> curve(double latency_ns, double bytes_per_s, double noise = 0, std::uint64_t seed = 1) {
  std::mt19937_64 engine(seed);
  std::vector<CopyTime> points;
  for (double bytes = kKiB; bytes <= kKiB * kKiB * kKiB; bytes *= 2) {
    const double exact = latency_ns + bytes / bytes_per_s * 1e9;
    const double ns = exact * (1 + noise * (2 * unit_draw(engine) - 1));
    points.push_back({.bytes = bytes, .ns = ns, .ci95_ns = {0.99 * ns, 1.01 * ns}});
  }
  return points;
}

TEST(TransferModel, FindsAnExactCurve) {
  const auto model = fit_transfer(curve(8000, 12e9));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_ns.value, 8000, 1e-3);
  EXPECT_NEAR(model->bytes_per_s.value, 12e9, 1);
  ASSERT_TRUE(model->half_bytes);
  EXPECT_NEAR(model->half_bytes->value, 96'000, 1e-2);  // 8 µs of 12 GB/s
  // There the copy takes twice the latency, so it moves half of the bandwidth.
  EXPECT_NEAR(model->half_bytes->value / model->at_ns(model->half_bytes->value), 6, 1e-6);
  EXPECT_EQ(model->points, 21U);
}

TEST(TransferModel, IntervalsHoldTheTruthUnderNoise) {
  int latency_held = 0;
  int bandwidth_held = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto model = fit_transfer(curve(8000, 12e9, 0.05, seed));
    ASSERT_TRUE(model && model->latency_ns.ci95 && model->bytes_per_s.ci95 && model->half_bytes->ci95);
    const auto holds = [](const Interval& interval, double value) {
      return interval.low <= value && value <= interval.high;
    };
    latency_held += holds(*model->latency_ns.ci95, 8000) ? 1 : 0;
    bandwidth_held += holds(*model->bytes_per_s.ci95, 12e9) ? 1 : 0;
    EXPECT_TRUE(holds(*model->half_bytes->ci95, model->half_bytes->value));
    EXPECT_NEAR(model->latency_ns.value, 8000, 500);
  }
  EXPECT_GE(latency_held, 88);
  EXPECT_GE(bandwidth_held, 88);
}

TEST(TransferModel, HasNoHalfWhereThereIsNoLatency) {
  const auto model = fit_transfer(curve(-1e-6, 12e9));
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->half_bytes);
}

TEST(TransferModel, NeedsTwoSizesAndTimesThatGrow) {
  EXPECT_FALSE(fit_transfer({}));
  EXPECT_FALSE(fit_transfer(std::vector<CopyTime>{{.bytes = 1024, .ns = 5}}));
  EXPECT_FALSE(fit_transfer(std::vector<CopyTime>{{.bytes = 1024, .ns = 50}, {.bytes = 2048, .ns = 5}}));
}

TEST(TransferModel, HeldOutSizesAreNotAmongThoseFitted) {
  const auto exact = held_out_errors(curve(8000, 12e9));
  ASSERT_EQ(exact.size(), 10U);
  for (const HeldOut& held_out : exact) {
    EXPECT_NEAR(held_out.error, 0, 1e-9);
  }
  // One held-out size 30 % off shows as just that, because it bent no line.
  auto points = curve(8000, 12e9);
  points[3].ns *= 1.3;
  EXPECT_NEAR(held_out_errors(points)[1].error, 1 - 1 / 1.3, 1e-9);
  EXPECT_THAT(held_out_errors(std::vector<CopyTime>(points.begin(), points.begin() + 4)), IsEmpty());
}

// Below 48,000 bytes 1 µs + bytes / 8 GB/s, above 5 µs + bytes / 24 GB/s: the lines meet there.
std::vector<CopyTime> bent(double noise, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  auto points = curve(1000, 8e9);
  for (CopyTime& point : points) {
    point.ns =
        std::min(point.ns, 5000 + point.bytes / 24e9 * 1e9) * (1 + noise * (2 * unit_draw(engine) - 1));
  }
  return points;
}

TEST(TransferCurve, IsOneLineWhereOneServes) {
  const auto exact = fit_curve(curve(8000, 12e9));
  ASSERT_TRUE(exact);
  ASSERT_EQ(exact->pieces.size(), 1U);
  EXPECT_NEAR(exact->at_ns(1e6), fit_transfer(curve(8000, 12e9))->at_ns(1e6), 1e-6);
  EXPECT_FALSE(fit_curve({}));
  const auto short_one = fit_curve(std::vector<CopyTime>{{.bytes = 1024, .ns = 5}, {.bytes = 2048, .ns = 7}});
  ASSERT_TRUE(short_one);
  EXPECT_NEAR(short_one->at_ns(4096), 11, 1e-9);
}

TEST(TransferCurve, ScatterAloneSeldomBendsIt) {
  int straight = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    straight += fit_curve(curve(8000, 12e9, 0.05, seed))->pieces.size() == 1 ? 1 : 0;
  }
  EXPECT_GE(straight, 35);
}

TEST(TransferCurve, BendsWhereTheLinesMeet) {
  const auto found = fit_curve(bent(0, 1));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->pieces.size(), 2U);
  EXPECT_NEAR(found->pieces[0].to_bytes, 48'000, 1);
  EXPECT_NEAR(found->pieces[0].bytes_per_s()->value, 8e9, 1e5);
  EXPECT_NEAR(found->pieces[1].bytes_per_s()->value, 24e9, 1e5);
  EXPECT_NEAR(found->at_ns(40'000), 6000, 0.1);
  EXPECT_NEAR(found->at_ns(480'000), 25'000, 0.1);
}

// Half of 24 GB/s: 5 µs + n / 24 = n / 12 at 120,000 bytes. One straight line would have said a fifth of
// that.
TEST(TransferCurve, HalfOfTheBandwidthIsReachedOnTheCurve) {
  const auto found = fit_curve(bent(0, 1));
  ASSERT_TRUE(found && found->bytes_per_s() && found->half_bytes());
  EXPECT_NEAR(found->latency_ns().value, 1000, 0.1);
  EXPECT_NEAR(found->bytes_per_s()->value, 24e9, 1e5);
  const double half = found->half_bytes()->value;
  EXPECT_NEAR(half, 120'000, 5);
  EXPECT_FALSE(found->half_bytes()->ci95);
  EXPECT_NEAR(half / found->at_ns(half), 12, 1e-3);
  EXPECT_LT(fit_transfer(bent(0, 1))->half_bytes->value, 60'000);
  // Of a straight line it is the model's.
  const auto straight = fit_curve(curve(8000, 12e9));
  EXPECT_NEAR(straight->half_bytes()->value, 96'000, 1e-2);
  EXPECT_TRUE(straight->half_bytes()->ci95);
}

// 1 µs + n / 24 GB/s up to 1 MB, then 10 GB/s only: half of that is 5 GB/s, within the first piece.
TEST(TransferCurve, HalfOfASlowerEndIsReachedEarlier) {
  auto points = curve(1000, 24e9);
  for (CopyTime& point : points) {
    point.ns += std::max(0.0, point.bytes - 1e6) * (1 / 10.0 - 1 / 24.0);
  }
  const auto found = fit_curve(points);
  ASSERT_TRUE(found && found->half_bytes());
  EXPECT_EQ(found->pieces.size(), 2U);
  EXPECT_NEAR(found->half_bytes()->value, 1000 / (1 / 5.0 - 1 / 24.0), 1);
}

// No latency, and half of the end's rate from the start.
TEST(TransferCurve, HasNoHalfWhereItIsReachedFromTheStart) {
  TransferCurve fast_start;
  fast_start.pieces = {{.from_bytes = 1024,
                        .to_bytes = 1e6,
                        .points = 9,
                        .latency_ns = {.value = -1, .ci95 = {}},
                        .ns_per_byte = {.value = 0.1, .ci95 = {}},
                        .grows = true},
                       {.from_bytes = 1e6,
                        .to_bytes = std::numeric_limits<double>::infinity(),
                        .points = 9,
                        .latency_ns = {.value = 49'999, .ci95 = {}},
                        .ns_per_byte = {.value = 0.05, .ci95 = {}},
                        .grows = true}};
  EXPECT_FALSE(fast_start.half_bytes());
  // At a third of that pace it reaches half beyond 1 MB only: 249,999 ns + n / 20 = n / 10.
  fast_start.pieces[0].ns_per_byte.value = 0.3;
  fast_start.pieces[1].latency_ns.value = 249'999;
  ASSERT_TRUE(fast_start.half_bytes());
  EXPECT_NEAR(fast_start.half_bytes()->value, 4'999'980, 1);
}

// 8 µs whatever is copied up to 96,000 bytes, then bytes / 12 GB/s.
TEST(TransferCurve, APieceThatHardlyGrowsHasNoRate) {
  for (const double noise : {0.0, 0.03}) {
    auto points = curve(0, 12e9, noise, 7);
    const auto start = curve(8000, 1e15, noise, 7);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].ns = std::max(points[i].ns, start[i].ns);
    }
    const auto found = fit_curve(points);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->pieces.size(), 2U) << noise;
    EXPECT_FALSE(found->pieces[0].grows);
    EXPECT_FALSE(found->pieces[0].bytes_per_s());
    EXPECT_NEAR(found->latency_ns().value, 8000, 8000 * noise + 1);
    EXPECT_NEAR(found->bytes_per_s()->value, 12e9, 12e9 * noise + 1e4);
    EXPECT_NEAR(found->half_bytes()->value, 48'000, 48'000 * 2 * noise + 10);
  }
}

TEST(TransferCurve, AnEndThatHardlyGrowsLeavesNoBandwidth) {
  auto points = curve(1000, 10e9);
  for (CopyTime& point : points) {
    point.ns = std::min(point.ns, 1e6);
  }
  const auto found = fit_curve(points);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->bytes_per_s());
  EXPECT_FALSE(found->half_bytes());
}

TEST(TransferCurve, WhatHardlyGrowsThroughoutHasNone) {
  auto points = curve(8000, 12e9);
  for (const double level : {8000.0, 7321.5}) {
    for (CopyTime& point : points) {
      point.ns = level * (1 + point.bytes / 1e12);  // by a thousandth
    }
    EXPECT_FALSE(fit_curve(points));
    EXPECT_FALSE(fit_transfer(points));
  }
}

TEST(TransferCurve, RefusesWhatCannotBeFitted) {
  auto points = curve(8000, 12e9);
  points.insert(points.begin(), points.front());
  EXPECT_FALSE(fit_curve(points));  // one size twice
  points = curve(8000, 12e9);
  points[2].ns = 0;
  EXPECT_FALSE(fit_curve(points));
  EXPECT_THAT(held_out_errors(points), IsEmpty());
}

TEST(TransferCurve, PredictsHeldOutSizesOfABentCurveWhereOneLineCannot) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<double> errors;
    std::vector<double> straight;
    for (const HeldOut& held_out : held_out_errors(bent(0.03, seed))) {
      errors.push_back(held_out.error);
      straight.push_back(held_out.straight_error);
    }
    ASSERT_EQ(errors.size(), 10U);
    EXPECT_LT(*median_of(errors), 0.06);
    better += *median_of(errors) < *median_of(straight) ? 1 : 0;
  }
  EXPECT_GE(better, 18);
}

TEST(TransferModel, Median) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_FALSE(median_of({}));
}

// Tables of the binomial distribution: of 6 the ends, of 10 the second, of 20 the sixth from either side.
TEST(TransferModel, MedianIntervalIsByOrder) {
  const auto numbers_to = [](int last) {
    std::vector<double> numbers;
    for (int i = last; i >= 1; --i) {
      numbers.push_back(i);
    }
    return numbers;
  };
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(numbers_to(5)));
  EXPECT_EQ(median_interval(numbers_to(6)), (Interval{1, 6}));
  EXPECT_EQ(median_interval(numbers_to(10)), (Interval{2, 9}));
  EXPECT_EQ(median_interval(numbers_to(20)), (Interval{6, 15}));
}

TEST(TransferCrossover, IsWhereTheModelsMeet) {
  const auto pinned = fit_curve(curve(10'000, 24e9));
  const auto pageable = fit_curve(curve(4000, 6e9));
  // 10 µs + n / 24 = 4 µs + n / 6 at n = 6 µs / (1/6 - 1/24) ns = 48,000 bytes.
  const auto crossed = crossing(*pinned, *pageable);
  ASSERT_TRUE(crossed);
  EXPECT_NEAR(*crossed, 48'000, 1e-2);
  EXPECT_NEAR(pinned->at_ns(*crossed), pageable->at_ns(*crossed), 1e-6);
  EXPECT_NEAR(*crossing(*pageable, *pinned), *crossed, 1e-6);
  EXPECT_FALSE(crossing(*fit_curve(curve(1000, 24e9)), *pageable));  // faster at every size
  EXPECT_FALSE(crossing(*pinned, *pinned));
}

TEST(TransferCrossover, IsOnThePiecesOfCurvesThatBend) {
  const auto bends = fit_curve(bent(0, 1));
  const auto straight = fit_curve(curve(10'000, 30e9));
  const double met = 5000 / (1 / 24.0 - 1 / 30.0);  // 600,000
  ASSERT_TRUE(crossing(*bends, *straight));
  EXPECT_NEAR(*crossing(*bends, *straight), met, met * 1e-3);
  EXPECT_NEAR(*crossing(*straight, *bends), met, met * 1e-3);
  // Met twice, at 16,000 and 144,000 bytes: the curve is faster, then slower, then faster again.
  const auto twice = fit_curve(curve(2000, 16e9));
  EXPECT_NEAR(*crossing(*bends, *twice), 3000 / (1 / 16.0 - 1 / 24.0), 100);
}

TEST(TransferCrossover, IsTheFirstSizeFromWhichAllAreApart) {
  const auto pinned = curve(10'000, 24e9);
  const auto pageable = curve(4000, 6e9);
  EXPECT_EQ(faster_from(pinned, pageable), 64 * kKiB);  // of powers of two, the first above 48,000
  EXPECT_FALSE(faster_from(pageable, pinned));
  EXPECT_FALSE(faster_from(pinned, pinned));  // intervals touch
  EXPECT_FALSE(faster_from(pinned, {}));
  auto disturbed = pinned;
  disturbed[10].ci95_ns.high *= 10;  // 1 MiB: nobody knows there
  EXPECT_EQ(faster_from(disturbed, pageable), 2048 * kKiB);
}

TEST(Pcie, LimitsByGenerationAndWidth) {
  EXPECT_NEAR(pcie_link("gen3 x16")->bytes_per_s(), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_link("gen4 x8")->bytes_per_s(), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_link("gen1 x1")->bytes_per_s(), 0.25e9, 1);
  EXPECT_NEAR(pcie_link("gen5 x16")->bytes_per_s(), 63.015e9, 1e6);
  EXPECT_EQ(pcie_link("gen9 x16")->bytes_per_s(), 0);
  for (const char* odd :
       {"", "gen", "gen4", "gen4x16", "gen4 x", "gen4 x16 ", "x16 gen4", "gen0 x1", "gen4 y16"}) {
    EXPECT_FALSE(pcie_link(odd)) << odd;
  }
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
      EXPECT_THAT(error.what(), HasSubstr("--sizes: ")) << wrong;
    }
  }
  EXPECT_THAT(parse_words("--kinds", "b,a,b", {"a", "b"}), ElementsAre("b", "a"));
  EXPECT_THROW(parse_words("--kinds", "a,,b", {"a", "b"}), UsageError);
}

}  // namespace
}  // namespace bench::sweeps
