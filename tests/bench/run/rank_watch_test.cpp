// How a process ends where its ranks are lost.
#include "bench/run/rank_watch.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/rank_heartbeat.h"
#include "tests/bench/run/one_rank.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;

// What was waited is measured.
std::string without_times(const std::string& sentence) {
  return std::regex_replace(sentence, std::regex("[0-9.]+ (ms|s|min)\\b"), "TIME");
}

TEST(RankWatch, KnowsWhetherAProcessRuns) {
  EXPECT_EQ(process_state(::getpid()), ProcessState::running);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ::kill(child, SIGSTOP);
  ::waitpid(child, nullptr, WUNTRACED);
  EXPECT_EQ(process_state(child), ProcessState::stopped);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(process_state(child), ProcessState::gone) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(process_state(child), ProcessState::gone);
}

// A rank whose calls do not return before the test releases it. With `once_abandoned` they wait for the group
// to be abandoned, and then do that.
class StuckRank final : public testing::OneRank {
 public:
  explicit StuckRank(int rank) : rank_(rank) {}
  explicit StuckRank(std::function<void()> once_abandoned) : once_abandoned_(std::move(once_abandoned)) {}
  int rank() const override { return rank_; }
  void barrier() override { wait(); }
  void finish() override { wait(); }
  void abandon() noexcept override {
    if (once_abandoned_) {
      released = true;
    }
  }
  std::atomic<bool> released{false};

 private:
  void wait() {
    while (!released) {
      std::this_thread::sleep_for(1ms);
    }
    if (once_abandoned_) {
      once_abandoned_();
    }
  }

  int rank_ = 0;
  std::function<void()> once_abandoned_{};
};

// A watched group whose barrier returns when the watch ends the process.
struct StuckRanks {
  explicit StuckRanks(std::vector<RankPlace> places, RankWatchSettings settings,
                      std::unique_ptr<RankHeartbeat> heartbeat = nullptr, int rank = 0) {
    auto made = std::make_unique<StuckRank>(rank);
    group = made.get();
    settings.end = [this](const std::string& said) {
      sentence = said;
      group->released = true;
    };
    watched = std::make_unique<WatchedRanks>(std::move(made), std::move(places), std::move(settings),
                                             std::vector<std::int64_t>{}, std::move(heartbeat));
  }

  StuckRank* group = nullptr;
  std::string sentence;
  std::unique_ptr<WatchedRanks> watched;
};

const std::vector<RankPlace> kTwoHosts{{.host = "a", .process = 10}, {.host = "b"}, {.host = "b"}};
const RankWatchSettings kShort{.timeout = 50ms, .pace = 5ms, .end = {}};

// What the watch says while a barrier does not return.
std::string sentence_of(ProcessState state, std::chrono::nanoseconds timeout, bool ends_expected = false) {
  StuckRanks stuck({{.host = "a", .process = 10}, {.host = "a", .process = 11}, {.host = "b", .process = 12}},
                   {.timeout = timeout,
                    .pace = 20ms,
                    .state =
                        [&](std::int64_t process) {
                          EXPECT_EQ(process, 11);
                          return state;
                        },
                    .end = {}});
  if (ends_expected) {
    stuck.watched->expect_ends();
  }
  stuck.watched->barrier();
  return stuck.sentence;
}

TEST(RankWatch, ARankThatIsGoneIsNamedAtOnce) {
  expect_words(without_times(sentence_of(ProcessState::gone, 1h)));
}

TEST(RankWatch, ARankThatIsStoppedIsNamedAfterTheTimeout) {
  expect_words(without_times(sentence_of(ProcessState::stopped, 100ms)));
}

// Where the first rank may be long at work, others wait ten times as long; not for one that is stopped.
TEST(RankWatch, ALongWaitThatIsExpectedTakesLonger) {
  StuckRanks stuck(kTwoHosts, kShort);
  stuck.watched->expect_long_wait(true);
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 450ms);
  expect_words(without_times(stuck.sentence));
}

// A rank that computes for longer than the timeout is no rank that is lost.
TEST(RankWatch, RanksOfThisHostThatRunAreWaitedForLonger) {
  RankWatchSettings settings = kShort;
  settings.state = [](std::int64_t) { return ProcessState::running; };
  StuckRanks stuck({{.host = "a", .process = 10}, {.host = "a", .process = 11}, {.host = "a", .process = 12}},
                   settings);
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 450ms);
  expect_words(without_times(stuck.sentence));
}

// As MPICH over some links: its end does not return, though all ranks run.
TEST(RankWatch, ALibraryThatDoesNotEndIsNotWaitedForLonger) {
  struct Endless final : testing::OneRank {
    explicit Endless(std::atomic<bool>& ended) : ended_(ended) {}
    ~Endless() override {
      while (!ended_) {
        std::this_thread::sleep_for(1ms);
      }
    }
    std::atomic<bool>& ended_;
  };
  std::atomic<bool> ended{false};
  std::string sentence;
  const auto start = std::chrono::steady_clock::now();
  {
    RankWatchSettings settings = kShort;
    settings.patience = 1000;
    settings.state = [](std::int64_t) { return ProcessState::running; };
    settings.end = [&](const std::string& said) {
      sentence = said;
      ended = true;
    };
    WatchedRanks watched(std::make_unique<Endless>(ended),
                         {{.host = "a", .process = 10}, {.host = "a", .process = 11}}, settings);
    watched.note_saved("results/cards.json");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  expect_words(without_times(sentence));
}

TEST(RankWatch, ALongCallThatWasAnsweredRaisesTheLimit) {
  RankWatchSettings settings = kShort;
  settings.patience = 1000;  // an answer that a busy machine delays is in time
  StuckRanks stuck(kTwoHosts, settings);
  stuck.watched->expect_long_wait(true);
  std::thread answer([&] {
    std::this_thread::sleep_for(200ms);
    stuck.group->released = true;
  });
  stuck.watched->barrier();
  answer.join();
  EXPECT_EQ(stuck.sentence, "");
  stuck.watched->expect_long_wait(false);
  stuck.group->released = false;
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 500ms)
      << "three times 200 ms, less what the watch sees late";
  expect_words(without_times(stuck.sentence));
}

TEST(RankWatch, WhatWasMeasuredIsNamedWhereThereIsAFile) {
  for (const std::string file : {"", "results/cards.json"}) {
    StuckRanks stuck(kTwoHosts, {.timeout = 20ms, .pace = 5ms, .end = {}});
    if (!file.empty()) {
      stuck.watched->note_saved(file);
    }
    stuck.watched->barrier();
    EXPECT_EQ(stuck.sentence.find("what was measured before is in results/cards.json") != std::string::npos,
              !file.empty())
        << stuck.sentence;
  }
}

// As MPICH may where the ranks that it reaches over a network are gone.
TEST(RankWatch, ALibraryThatCrashesOnALostRankDoesNotChangeTheExitCode) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto crashing = std::make_unique<StuckRank>([] {
      std::this_thread::sleep_for(200ms);
      ::raise(SIGSEGV);
    });
    WatchedRanks watched(std::move(crashing), {{.host = "a", .process = 10}, {.host = "a", .process = 11}},
                         {.pace = 5ms, .state = [](std::int64_t) { return ProcessState::gone; }, .end = {}});
    watched.barrier();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::inconclusive));
}

// As after a kill: its connection ends. The others name it, on whatever host.
TEST(RankWatch, ARankOnAnotherHostThatDiesIsNamed) {
  testing::run_ranks(3, [](RankGroup& group) {
    const std::vector<RankPlace> places{
        {.host = "a", .process = 1}, {.host = "b", .process = 2}, {.host = "c", .process = 3}};
    auto heartbeat = RankHeartbeat::connect(group, places);
    ASSERT_NE(heartbeat, nullptr);
    if (group.rank() == 2) {
      heartbeat.reset();
      group.barrier();
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    StuckRanks stuck(places, {.timeout = 1h, .pace = 20ms, .end = {}}, std::move(heartbeat), group.rank());
    stuck.watched->barrier();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    EXPECT_EQ(stuck.sentence,
              fmt::format("rank 2 (process 3 on c) is gone; rank {} ends here", group.rank()));
    group.barrier();  // a rank that went first would be gone too for one that has not looked yet
  });
}

// Their calls are watched as the whole group's are, and an all_reduce may be in place.
TEST(RankWatch, TheFirstRanksAreAGroup) {
  testing::run_ranks(4, [](RankGroup& group) {
    WatchedRanks watched(std::make_unique<testing::PassingRanks>(group), places_of(group), {});
    const auto part = watched.first(3);
    ASSERT_EQ(part != nullptr, group.rank() < 3);
    if (part == nullptr) {
      return;
    }
    EXPECT_EQ(part->size(), 3);
    float sum = static_cast<float>(part->rank()) + 1;
    const auto pending = part->start({.from = &sum, .to = &sum, .bytes = sizeof(sum)});
    pending->poll();
    pending->wait();
    EXPECT_EQ(sum, 6);
    part->barrier();
  });
}

TEST(RankWatch, OfOtherHostsTheRanksAreNamed) {
  expect_words(without_times(sentence_of(ProcessState::running, 100ms)));
  expect_words(without_times(sentence_of(ProcessState::gone, 100ms, true)));  // ends are expected
}

// As NCCL: its calls can be given up, from another thread.
TEST(RankWatch, CallsThatCanBeGivenUpAreAbandoned) {
  std::string sentence;
  WatchedRanks watched(
      std::make_unique<StuckRank>([] { throw RanksLost("given up"); }),
      {{.host = "a", .process = 10}, {.host = "b"}},
      {.timeout = 50ms, .pace = 5ms, .state = process_state, .end = [&](const std::string& said) {
         sentence = said;
       }});
  EXPECT_THROW(watched.finish(), RanksLost);
  expect_words(without_times(sentence));
}

TEST(RankWatch, ACallThatFailsEndsTheRank) {
  struct Failing final : testing::OneRank {
    void barrier() override { throw RanksLost("MPI_Barrier failed: no process"); }
  };
  std::vector<std::string> said;
  WatchedRanks watched(
      std::make_unique<Failing>(), {{.host = "a", .process = 10}},
      {.timeout = 1h, .pace = 1ms, .state = process_state, .end = [&](const std::string& one) {
         said.push_back(one);
       }});
  EXPECT_THROW(watched.barrier(), RanksLost);
  expect_words(said);
}

// Other programs on the cores may hold a call up for longer than the timeout, which is rightly named: then
// with a longer one.
TEST(RankWatch, CallsThatReturnAreNotTimedOut) {
  std::atomic<bool> held_up = true;
  for (auto timeout = 100ms; held_up && timeout < 10s; timeout *= 2) {
    held_up = false;
    testing::run_ranks(2, [&](RankGroup& group) {
      std::atomic<int> ends = 0;
      WatchedRanks watched(
          std::make_unique<testing::PassingRanks>(group), places_of(group),
          {.timeout = timeout, .pace = 1ms, .state = process_state, .end = [&](const std::string&) {
             ++ends;
           }});
      auto longest = std::chrono::steady_clock::duration::zero();
      const auto until = std::chrono::steady_clock::now() + 3 * timeout;
      float last = 0;
      while (last == 0) {  // both leave in the same turn
        const auto start = std::chrono::steady_clock::now();
        const float over = group.rank() == 0 && start > until ? 1 : 0;
        watched.run({.from = &over, .to = &last, .bytes = sizeof(float)});
        longest = std::max(longest, std::chrono::steady_clock::now() - start);
      }
      if (longest >= timeout) {
        held_up = true;
      } else {
        EXPECT_EQ(ends, 0);
      }
    });
  }
  EXPECT_FALSE(held_up);
}

}  // namespace
}  // namespace bench
