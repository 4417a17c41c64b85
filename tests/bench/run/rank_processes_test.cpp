// Ranks as processes of this host: what each is told, and that none is left behind.
#include "bench/run/rank_processes.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "bench/host/interrupt.h"
#include "bench/run/rank_watch.h"
#include "tests/bench/support/child.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class RankProcessesTest : public ::testing::Test {
 protected:
  // The script of every rank; $1 is a folder for what they tell.
  ExitCode run(int ranks, const std::string& script) {
    return run_ranks_here({"sh", "-c", script, "sh", folder_.path().string()}, ranks,
                          {.program = "/bin/sh", .grace = 300ms});
  }
  std::string text_of(const std::string& file) const {
    std::ifstream stream(folder_.path() / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  ProcessState state_of(const std::string& file) const { return process_state(std::stoll(text_of(file))); }

  const testing::TemporaryFolder folder_;
};

TEST_F(RankProcessesTest, EachIsToldItsRankAndWhereToMeet) {
  EXPECT_EQ(run(3, "echo $WORLD_SIZE $LOCAL_RANK $MASTER_ADDR $MASTER_PORT $TORCHELASTIC_RUN_ID > $1/$RANK"),
            ExitCode::done);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(text_of(std::to_string(rank)).substr(0, 14), "3 " + std::to_string(rank) + " 127.0.0.1 ");
  }
  EXPECT_EQ(text_of("0").substr(4), text_of("2").substr(4));
}

TEST_F(RankProcessesTest, TheFirstRanksExitCodeCounts) {
  EXPECT_EQ(run(2, "exit $((2 - 2 * $RANK))"), ExitCode::usage);
  EXPECT_EQ(run(2, "exit $((7 * $RANK))"), ExitCode::inconclusive) << "another rank failed";
  EXPECT_EQ(run(2, "if [ $RANK = 0 ]; then kill -9 $$; fi"), ExitCode::inconclusive);
}

TEST_F(RankProcessesTest, WhenOneDiesTheOthersAreKilledAfterTheGraceTime) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run(3, "echo $$ > $1/$RANK; if [ $RANK = 1 ]; then kill -9 $$; fi; exec sleep 100"),
            ExitCode::inconclusive);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_EQ(state_of("0"), ProcessState::gone);
  EXPECT_EQ(state_of("2"), ProcessState::gone);
}

// Ctrl-C is for the first rank, which tells the others.
TEST_F(RankProcessesTest, AnInterruptGoesToTheFirstRank) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    run(2, "trap 'exit 130' INT; echo $$ > $1/$RANK; while true; do sleep 0.05; done");
    ::_exit(0);
  }
  while (text_of("0").empty() || text_of("1").empty()) {
    std::this_thread::sleep_for(10ms);
  }
  ::kill(parent, SIGINT);
  int status = 0;
  ::waitpid(parent, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(state_of("0"), ProcessState::gone);
  EXPECT_EQ(state_of("1"), ProcessState::gone);
}

// One that came before there were ranks, and one that a rank takes before it has its handlers.
TEST_F(RankProcessesTest, AnInterruptBeforeAnyRankRunsIsNotLost) {
  const auto code_of = [&](const std::string& script) {
    return testing::status_of([&] {
      install_interrupt_handlers();
      if (script.empty()) {
        ::raise(SIGTERM);
      }
      ::_exit(static_cast<int>(run(2, script.empty() ? "exit 0" : script)));
    });
  };
  EXPECT_EQ(WEXITSTATUS(code_of("")), 130);
  EXPECT_EQ(WEXITSTATUS(code_of("if [ $RANK = 0 ]; then kill -TERM $PPID; fi; exec sleep 100")), 130);
}

TEST_F(RankProcessesTest, NoneOutlivesTheProgramThatStartedThem) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    run(2, "echo $$ > $1/$RANK; exec sleep 100");
    ::_exit(0);
  }
  while (text_of("0").empty() || text_of("1").empty()) {
    std::this_thread::sleep_for(10ms);
  }
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const auto any_runs = [&] {
    return state_of("0") != ProcessState::gone || state_of("1") != ProcessState::gone;
  };
  for (int i = 0; i < 500 && any_runs(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(state_of("0"), ProcessState::gone);
  EXPECT_EQ(state_of("1"), ProcessState::gone);
}

}  // namespace
}  // namespace bench
