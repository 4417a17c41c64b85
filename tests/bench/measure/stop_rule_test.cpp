#include "bench/measure/stop_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Time moves when the test says so.
class ManualClock {
 public:
  std::chrono::nanoseconds elapsed() const { return elapsed_; }
  void advance(std::chrono::nanoseconds by) { elapsed_ += by; }

 private:
  std::chrono::nanoseconds elapsed_{0};
};

SampleStats stats_of(std::int64_t rounds, double low, double high) {
  SampleStats stats;
  stats.median_ns = 1000;
  stats.ci95_ns = {low, high};
  stats.rounds = rounds;
  return stats;
}

const SampleStats kNarrow = stats_of(3, 990, 1010);
const SampleStats kWide = stats_of(3, 980, 1005);

TEST(StopRule, StopsWhereTheIntervalIsNarrow) {
  const StopRule rule({.budget = 1s});
  EXPECT_EQ(rule.decide(kNarrow, 0s), Verdict::precise);
  EXPECT_THAT(rule.flags(kNarrow), IsEmpty());
}

TEST(StopRule, WantsBothSidesNarrow) {
  const StopRule rule({.budget = 1s});
  EXPECT_EQ(rule.decide(stats_of(3, 989, 1000), 0s), Verdict::keep_going);
  EXPECT_EQ(rule.decide(stats_of(3, 1000, 1011), 0s), Verdict::keep_going);
}

TEST(StopRule, WantsThreeRoundsHoweverNarrow) {
  const StopRule rule({.budget = 1s});
  EXPECT_EQ(rule.decide(stats_of(2, 1000, 1000), 0s), Verdict::keep_going);
  EXPECT_THAT(rule.flags(stats_of(2, 1000, 1000)), ElementsAre("few_rounds"));
}

TEST(StopRule, TrustsNoFewerRoundsThanItIsTold) {
  SampleStats stats = kNarrow;
  stats.rounds = 5;
  const StopRule rule({.trusted_rounds = 6, .budget = 1s});
  EXPECT_EQ(rule.decide(stats, 0s), Verdict::keep_going);
  EXPECT_TRUE(rule.flags(stats).empty());  // where the budget ends, its interval is as narrow as was asked
  stats.rounds = 6;
  EXPECT_EQ(rule.decide(stats, 0s), Verdict::precise);
}

TEST(StopRule, GoesOnUntilTheBudgetEnds) {
  const StopRule rule({.budget = 1s});
  ManualClock clock;
  int visits = 0;
  while (rule.decide(kWide, clock.elapsed()) == Verdict::keep_going) {
    clock.advance(300ms);
    ++visits;
  }
  EXPECT_EQ(visits, 4);
  EXPECT_EQ(rule.decide(kWide, clock.elapsed()), Verdict::out_of_time);
  EXPECT_THAT(rule.flags(kWide), ElementsAre("noisy"));
}

TEST(StopRule, TheBudgetsLastInstantIsItsEnd) {
  const StopRule rule({.budget = 1s});
  EXPECT_EQ(rule.decide(kWide, 1s - 1ns), Verdict::keep_going);
  EXPECT_EQ(rule.decide(kWide, 1s), Verdict::out_of_time);
}

TEST(StopRule, APrecisePointStaysPreciseAfterTheBudget) {
  EXPECT_EQ(StopRule({.budget = 1s}).decide(kNarrow, 2s), Verdict::precise);
}

TEST(StopRule, TakesOtherSettings) {
  const StopRule rule({.min_rounds = 5, .half_width = 0.05, .budget = 1s});
  EXPECT_EQ(rule.decide(kWide, 0s), Verdict::keep_going);
  EXPECT_EQ(rule.decide(stats_of(5, 960, 1040), 0s), Verdict::precise);
}

TEST(SamplesForVisit, FillsTheSlice) {
  EXPECT_EQ(samples_for_visit(1e6, 100ms), 100);
  EXPECT_EQ(samples_for_visit(3e6, 10ms), 3);
  EXPECT_EQ(samples_for_visit(100, 100ms), 256);
  EXPECT_EQ(samples_for_visit(5e9, 100ms), 1);
  EXPECT_EQ(samples_for_visit(5e9, 100ms, 256, 3), 3);
  EXPECT_EQ(samples_for_visit(1e6, 100ms, 40), 40);
  EXPECT_EQ(samples_for_visit(0, 100ms), 256);
  EXPECT_EQ(samples_for_visit(1e-300, 1h), 256);
}

}  // namespace
}  // namespace bench
