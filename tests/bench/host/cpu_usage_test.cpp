// Who uses the machine's cores besides this process.
#include "bench/host/cpu_usage.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/bench/support/manual_clock.h"

namespace bench {
namespace {

using bench::testing::ManualClock;

TEST(CoreTicks, AreThoseOfAllCores) {
  const auto ticks = core_ticks("cpu  10 20 30 400 50 6 7 8 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(ticks->stolen, 8);
  EXPECT_EQ(ticks->all, ticks->busy + 400 + 50);  // guests' ticks are users' already
}

TEST(CoreTicks, OlderKernelsTellFewer) {
  const auto ticks = core_ticks("cpu 10 20 30 40 5");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 60);
  EXPECT_EQ(ticks->stolen, 0);
  EXPECT_EQ(ticks->all, 105);
}

TEST(CoreTicks, AreReadFromNothingElse) {
  for (const char* const text : {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e"}) {
    EXPECT_FALSE(core_ticks(text)) << text;
  }
}

TEST(LoadAverage, IsTheFirstNumber) {
  EXPECT_EQ(load_average("1.25 0.50 0.10 1/234 5678\n"), 1.25);
  for (const char* const text : {"", "much", "-1 0 0"}) {
    EXPECT_FALSE(load_average(text)) << text;
  }
}

CpuTimes at(std::chrono::milliseconds time, CoreTicks ticks, double own_s) {
  return {.ticks = ticks, .own_s = own_s, .at = Clock::time_point(time)};
}

// Ticks of a hundredth of a second on every Linux of today.
TEST(ProcessSeconds, AreThoseOfItsOwnCodeAndOfTheSystems) {
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(process_seconds("12 (bench) R 1 12 12 0 -1 4194304 100 0 0 0 250 50 9 9 20 0"), 300 / tick);
  EXPECT_EQ(process_seconds("12 (a b) c) R 1 12 12 0 -1 4194304 100 0 0 0 250 50 9 9"), 300 / tick);
  for (const char* const text :
       {"", "12", "12 (bench) R 1 12", "12 (bench) R 1 12 12 0 -1 4 100 0 0 0 x 50"}) {
    EXPECT_EQ(process_seconds(text), 0) << text;
  }
}

// Processes that keep cores busy are other programs until they count as own. There are four, so that other
// work on the cores leaves them more than a tenth of one together.
TEST(CpuUsage, ProcessesThatCountAsOwnAreNoOtherPrograms) {
  std::vector<std::int64_t> busy;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (volatile bool on = true; on;) {
      }
    }
    busy.push_back(child);
  }
  const auto others = [](std::vector<std::int64_t> own) {
    count_as_own(std::move(own));
    return other_cpu_usage(std::chrono::milliseconds(300), steady_clock());
  };
  double as_other = 0;
  double as_own = 0;
  for (int i = 0; i < 5 && as_own >= as_other - 0.1; ++i) {  // more than once where other work changes
    as_other = others({});
    as_own = others(busy);
  }
  count_as_own({});
  for (const std::int64_t child : busy) {
    ASSERT_GT(child, 0);
    ::kill(static_cast<pid_t>(child), SIGKILL);
    ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  }
  EXPECT_LT(as_own, as_other - 0.1);
}

TEST(OthersWantCores, WhereTheyUseMoreThanIsLeftToThem) {
  const int online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const CpuTimes before = at(std::chrono::milliseconds(0), {}, 0);
  // Half of all cores.
  const CpuTimes after = at(std::chrono::seconds(1), {.busy = 50, .stolen = 0, .all = 100}, 0);
  EXPECT_TRUE(others_want_cores(before, after, online, 0.25 * online));
  EXPECT_FALSE(others_want_cores(before, after, online, 0.75 * online));
  EXPECT_FALSE(others_want_cores(before, before, online, 0));
}

// Four cores over half a second: 200 ticks, of which 80 were used by programs and 20 stolen. This program ran
// 0.3 s of the 0.8 s.
TEST(CpuUsage, ThisProgramsOwnTimeAndStolenTimeAreNoOtherPrograms) {
  const auto usage =
      usage_between(at(std::chrono::milliseconds(0), {}, 2),
                    at(std::chrono::milliseconds(500), {.busy = 100, .stolen = 20, .all = 200}, 2.3), 4);
  ASSERT_TRUE(usage);
  EXPECT_DOUBLE_EQ(usage->stolen, 0.1);
  EXPECT_NEAR(usage->others, 1.6 - 0.6, 1e-12);
}

TEST(CpuUsage, IsNeverNegative) {
  const auto usage = usage_between(at(std::chrono::milliseconds(0), {}, 0),
                                   at(std::chrono::milliseconds(500), {.busy = 10, .all = 200}, 1), 4);
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->others, 0);
}

TEST(CpuUsage, NeedsTimeToPass) {
  EXPECT_FALSE(usage_between({}, {}, 4));
}

TEST(CpuUsageWatch, ReadsOverWindowsLongEnoughForTicks) {
  ManualClock clock;
  CoreTicks ticks;
  CpuUsageWatch watch([&] { return CpuTimes{.ticks = ticks, .own_s = 0, .at = clock.now()}; }, 1);
  const auto pass = [&](std::chrono::milliseconds time, std::int64_t stolen) {
    clock.advance(time);
    ticks.all += time.count() / 10;
    ticks.busy += stolen;
    ticks.stolen += stolen;
    return watch.read();
  };
  EXPECT_FALSE(pass(std::chrono::milliseconds(150), 15)) << "too short to tell";
  EXPECT_DOUBLE_EQ(pass(std::chrono::milliseconds(150), 0)->stolen, 0.5);
  EXPECT_DOUBLE_EQ(pass(std::chrono::milliseconds(10), 0)->stolen, 0.5) << "still the last window's";
  EXPECT_DOUBLE_EQ(pass(std::chrono::milliseconds(290), 0)->stolen, 0);
}

TEST(CpuUsageWatch, SaysNothingWhereTheSystemDoesNotTell) {
  CpuUsageWatch watch([] { return std::optional<CpuTimes>(); }, 1);
  EXPECT_FALSE(watch.read());
}

TEST(OtherCpuUsage, IsNotNegative) {
  EXPECT_GE(other_cpu_usage(std::chrono::milliseconds(20), steady_clock()), 0);
}

TEST(OtherCpuUsage, WhereMoreCoresAreWantedThanThereAreOthersHaveSome) {
  const ManualClock clock;
  const Clock::time_point start = clock.now();
  EXPECT_TRUE(others_want_cores(1 << 20, clock));
  EXPECT_EQ(clock.now() - start, std::chrono::milliseconds(330));
}

}  // namespace
}  // namespace bench
