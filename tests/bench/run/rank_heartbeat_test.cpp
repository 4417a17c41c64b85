// Signs of life between ranks on several hosts.
#include "bench/run/rank_heartbeat.h"

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
void on_three_hosts(const std::function<void(RankGroup& group, RankHeartbeat& heartbeat)>& body) {
  testing::run_ranks(3, [&](RankGroup& group) {
    const std::vector<RankPlace> places{
        {.host = "a", .process = 1}, {.host = "b", .process = 2}, {.host = "c", .process = 3}};
    const auto heartbeat = RankHeartbeat::connect(group, places);
    ASSERT_NE(heartbeat, nullptr);
    body(group, *heartbeat);
    group.barrier();
  });
}

void beat_until(RankHeartbeat& heartbeat, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done() && std::chrono::steady_clock::now() < end) {
    heartbeat.beat();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(done());
}

TEST(RankHeartbeat, OneHostNeedsNone) {
  testing::run_ranks(2, [](RankGroup& group) {
    EXPECT_EQ(RankHeartbeat::connect(group, {{.host = "a"}, {.host = "a"}}), nullptr);
  });
}

TEST(RankHeartbeat, ARankThatGivesSignsIsHeardAndOneThatIsStoppedIsNot) {
  std::atomic<bool> differ = false;
  std::atomic<bool> over = false;
  on_three_hosts([&](RankGroup& group, RankHeartbeat& heartbeat) {
    if (group.rank() == 0) {
      // The second gives no signs, and the third does: their silences differ after 2 s, or where a busy
      // machine delays a sign, after the next one.
      beat_until(heartbeat, [&] {
        return heartbeat.silent_for(1).value() > 2s && heartbeat.silent_for(2).value() < 2s;
      });
      EXPECT_FALSE(heartbeat.is_gone(1));
      differ = true;
      beat_until(heartbeat, [&] { return over.load(); });
    } else if (group.rank() == 2) {
      beat_until(heartbeat, [&] { return differ && heartbeat.silent_for(0).value() < 2s; });
      EXPECT_FALSE(heartbeat.silent_for(1)) << "the first rank hears it";
      over = true;
    }
  });
}

TEST(RankHeartbeat, WhatOneRankTellsAllAreTold) {
  on_three_hosts([](RankGroup& group, RankHeartbeat& heartbeat) {
    if (group.rank() == 1) {
      heartbeat.tell("rank 7 (process 9 on b) is gone");
    }
    beat_until(heartbeat, [&] { return heartbeat.told() == "rank 7 (process 9 on b) is gone"; });
  });
}

}  // namespace
}  // namespace bench
