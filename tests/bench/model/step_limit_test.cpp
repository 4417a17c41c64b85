#include "bench/model/step_limit.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

// 1 GFLOP at 100 GFLOP/s: 10 ms. 20 MB of weights and 30 MB of activations at 10 GB/s: 5 ms.
const Work kWork{.flops = 1e9, .fixed_bytes = 20e6, .sample_bytes = 30e6, .launches = 53};
const Peaks kPeaks{.flops_per_s = 100e9, .bytes_per_s = 10e9, .source = ""};

TEST(StepLimit, ArithmeticExplainsTheStep) {
  const LimitReport report = find_limit(kWork, kPeaks, {12.5e6});
  EXPECT_EQ(report.limit, StepLimit::compute);
  EXPECT_DOUBLE_EQ(*report.compute_share, 0.8);
  EXPECT_DOUBLE_EQ(*report.memory_share, 0.4);
  EXPECT_DOUBLE_EQ(*report.fixed_bytes_ns, 2e6);
}

TEST(StepLimit, MovingDataExplainsTheStep) {
  const LimitReport report =
      find_limit(kWork, {.flops_per_s = 1e12, .bytes_per_s = 10e9, .source = ""}, {6.25e6});
  EXPECT_EQ(report.limit, StepLimit::memory);
  EXPECT_DOUBLE_EQ(*report.memory_share, 0.8);
}

TEST(StepLimit, NeitherExplainsHalf) {
  EXPECT_EQ(find_limit(kWork, kPeaks, {20.1e6}).limit, StepLimit::implementation);
  EXPECT_EQ(find_limit(kWork, kPeaks, {20e6}).limit, StepLimit::compute);
}

// 53 launches of 200 µs are 10.6 ms.
TEST(StepLimit, IsTheLaunchesOnlyWhereTheySurelyTakeHalf) {
  const Work small{.flops = 1e6, .launches = 53};
  const Estimate launch{200e3, Interval{190e3, 210e3}};
  const auto limit = [&](const Estimate& step, const std::optional<Estimate>& launches) {
    return find_limit(small, kPeaks, step, launches).limit;
  };
  const Estimate step{19e6, Interval{18.5e6, 19.5e6}};
  EXPECT_EQ(limit(step, launch), StepLimit::launch);
  EXPECT_NEAR(find_limit(small, kPeaks, step, launch).launch_share->value, 10.6 / 19, 1e-9);
  EXPECT_EQ(limit({19e6, Interval{17e6, 21e6}}, launch), StepLimit::implementation) << "perhaps not";
  EXPECT_EQ(limit({19e6}, launch), StepLimit::implementation) << "without an interval nothing is sure";
  EXPECT_EQ(limit({40e6, Interval{39e6, 41e6}}, launch), StepLimit::implementation) << "a slow kernel";
  EXPECT_EQ(limit(step, std::nullopt), StepLimit::implementation) << "not measured";
}

TEST(StepLimit, UnknownPeaksExplainNothing) {
  const LimitReport none = find_limit(kWork, {}, {12e6});
  EXPECT_EQ(none.limit, StepLimit::unknown);
  EXPECT_FALSE(none.compute_share);
  EXPECT_FALSE(none.memory_share);
  // Half of the step is explained by what is known; or it is not, and the other may.
  EXPECT_EQ(find_limit(kWork, {.bytes_per_s = 10e9, .source = ""}, {6e6}).limit, StepLimit::memory);
  EXPECT_EQ(find_limit(kWork, {.bytes_per_s = 10e9, .source = ""}, {60e6}).limit, StepLimit::unknown);
}

TEST(StepLimit, HasNames) {
  EXPECT_EQ(name_of(StepLimit::compute), "compute");
  EXPECT_EQ(name_of(StepLimit::memory), "memory");
  EXPECT_EQ(name_of(StepLimit::launch), "launch");
  EXPECT_EQ(name_of(StepLimit::implementation), "implementation");
  EXPECT_EQ(name_of(StepLimit::unknown), "unknown");
}

}  // namespace
}  // namespace bench
