// How many cores other programs keep busy.
#include "sweeps/workers/other_cpu_usage.h"

#include <gtest/gtest.h>

#include "tests/bench/support/manual_clock.h"

namespace bench::sweeps {
namespace {

TEST(OtherCpuUsage, ReadsTheTicksOfAllCores) {
  const auto ticks = core_ticks("cpu  10 20 30 400 50 6 7 8 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(ticks->all, ticks->busy + 400 + 50);  // guests' ticks are users' already
}

TEST(OtherCpuUsage, OlderKernelsTellFewer) {
  const auto ticks = core_ticks("cpu 10 20 30 40 5");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 60);
  EXPECT_EQ(ticks->all, 105);
}

TEST(OtherCpuUsage, ReadsNothingElse) {
  for (const char* const text : {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e"}) {
    EXPECT_FALSE(core_ticks(text)) << text;
  }
}

TEST(OtherCpuUsage, IsNotNegative) {
  EXPECT_GE(other_cpu_usage(std::chrono::milliseconds(20), steady_clock()), 0);
}

TEST(OtherCpuUsage, WhereMoreCoresAreWantedThanThereAreOthersHaveSome) {
  const bench::testing::ManualClock clock;
  const Clock::time_point start = clock.now();
  EXPECT_TRUE(others_want_cores(1 << 20, clock));
  EXPECT_EQ(clock.now() - start, std::chrono::milliseconds(330));
}

}  // namespace
}  // namespace bench::sweeps
