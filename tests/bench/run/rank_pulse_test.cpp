// Signs of life between ranks on several hosts.
#include "bench/run/rank_pulse.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "tests/bench/support/thread_ranks.h"

namespace bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// Three ranks on three hosts, as they say.
void on_three_hosts(const std::function<void(RankGroup& group, RankPulse& pulse)>& body) {
  testing::run_ranks(3, [&](RankGroup& group) {
    const std::vector<RankPlace> places{
        {.host = "a", .process = 1}, {.host = "b", .process = 2}, {.host = "c", .process = 3}};
    const auto pulse = RankPulse::connect(group, places);
    ASSERT_NE(pulse, nullptr);
    body(group, *pulse);
    group.barrier();
  });
}

void beat_until(RankPulse& pulse, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done() && std::chrono::steady_clock::now() < end) {
    pulse.beat();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(done());
}

TEST(RankPulse, OneHostNeedsNone) {
  testing::run_ranks(2, [](RankGroup& group) {
    EXPECT_EQ(RankPulse::connect(group, {{.host = "a"}, {.host = "a"}}), nullptr);
  });
}

TEST(RankPulse, ARankThatGivesSignsIsHeardAndOneThatIsStoppedIsNot) {
  std::atomic<bool> differ = false;
  std::atomic<bool> over = false;
  on_three_hosts([&](RankGroup& group, RankPulse& pulse) {
    if (group.rank() == 0) {
      // The second gives no signs, and the third does: their silences differ after 2 s, or where a busy
      // machine delays a sign, after the next one.
      beat_until(pulse, [&] { return pulse.silent_for(1).value() > 2s && pulse.silent_for(2).value() < 2s; });
      EXPECT_FALSE(pulse.is_gone(1));
      differ = true;
      beat_until(pulse, [&] { return over.load(); });
    } else if (group.rank() == 2) {
      beat_until(pulse, [&] { return differ && pulse.silent_for(0).value() < 2s; });
      EXPECT_FALSE(pulse.silent_for(1)) << "the first rank hears it";
      over = true;
    }
  });
}

TEST(RankPulse, WhatOneRankTellsAllAreTold) {
  on_three_hosts([](RankGroup& group, RankPulse& pulse) {
    if (group.rank() == 1) {
      pulse.tell("rank 7 (process 9 on b) is gone");
    }
    beat_until(pulse, [&] { return pulse.told() == "rank 7 (process 9 on b) is gone"; });
  });
}

}  // namespace
}  // namespace bench
