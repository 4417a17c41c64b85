// What other programs take of the cores, and how nice workers are for it.
#include "sweeps/workers/other_load.h"

#include <gtest/gtest.h>

#include "sweeps/workers/session.h"

namespace bench::sweeps {
namespace {

TEST(OtherLoad, ReadsTheTicksOfAllCores) {
  const auto ticks = core_ticks("cpu  10 20 30 400 50 6 7 8 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(ticks->all, ticks->busy + 400 + 50);  // guests' ticks are users' already
}

TEST(OtherLoad, OlderKernelsTellFewer) {
  const auto ticks = core_ticks("cpu 10 20 30 40 5");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 60);
  EXPECT_EQ(ticks->all, 105);
}

TEST(OtherLoad, ReadsNothingElse) {
  for (const char* const text : {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e"}) {
    EXPECT_FALSE(core_ticks(text)) << text;
  }
}

TEST(OtherLoad, IsNotNegative) {
  EXPECT_GE(cores_busy_elsewhere(std::chrono::milliseconds(20)), 0);
}

TEST(OtherLoad, BesideManyWorkersNobodyIsNice) {
  const Nice nice{.wanted = 19, .most_workers = 32};
  EXPECT_EQ(nice.of(32), 19);
  EXPECT_EQ(nice.of(33), 0);
  EXPECT_EQ(Nice{}.of(1), 0);
}

TEST(OtherLoad, WhereMoreCoresAreWantedThanThereAreOthersHaveSome) {
  const Nice nice = nice_beside_others(1 << 20);
  EXPECT_EQ(nice.wanted, 0);
}

}  // namespace
}  // namespace bench::sweeps
