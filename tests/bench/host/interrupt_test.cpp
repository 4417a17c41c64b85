// Each test forks, because a signal reaches the whole process.
#include "bench/host/interrupt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "bench/host/private_folder.h"
#include "tests/bench/support/child.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using testing::status_of;
using testing::TemporaryFolder;

constexpr int kInterruptedCode = 130;
constexpr int kAsExpected = 42;

bool exited_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

bool ended_by(int status, int signal) {
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

TEST(Interrupts, TheFirstIsNotedAndTheSecondEndsTheProgram) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = status_of([&] {
      install_interrupt_handlers();
      ::raise(signal);
      ::_exit(interrupted() && ::raise(signal) == 0 ? 1 : 2);
    });
    EXPECT_TRUE(ended_by(status, signal)) << status;
  }
}

TEST(Interrupts, SeveralOfAClosedTerminalAreOne) {
  const int status = status_of([] {
    install_interrupt_handlers();
    ::raise(SIGHUP);
    ::raise(SIGHUP);
    ::_exit(interrupted() ? kAsExpected : 1);
  });
  EXPECT_TRUE(exited_with(status, kAsExpected)) << status;
}

TEST(Interrupts, UnderNohupATerminalMayClose) {
  const int status = status_of([] {
    std::signal(SIGHUP, SIG_IGN);
    install_interrupt_handlers();
    ::raise(SIGHUP);
    ::_exit(interrupted() ? 1 : kAsExpected);
  });
  EXPECT_TRUE(exited_with(status, kAsExpected)) << status;
}

TEST(Interrupts, EndAProgramThatSavesNothingAtOnce) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_of([&] {
      end_when_interrupted();
      ::raise(signal);
    });
    EXPECT_TRUE(exited_with(status, kInterruptedCode)) << status;
  }
}

TEST(Interrupts, OneThatCameBeforeEndsItToo) {
  const int status = status_of([] {
    install_interrupt_handlers();
    ::raise(SIGTERM);
    end_when_interrupted();
  });
  EXPECT_TRUE(exited_with(status, kInterruptedCode)) << status;
}

TEST(Interrupts, LeaveNoTemporaryFolder) {
  const TemporaryFolder folder;
  const int status = status_of([&] {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    end_when_interrupted();
    const PrivateFolder made;
    ::raise(SIGTERM);
    if (!std::filesystem::exists(made.path())) {
      ::_exit(1);
    }
  });
  EXPECT_TRUE(exited_with(status, kInterruptedCode)) << status;
  EXPECT_TRUE(folder.names().empty());
}

// Also those that come to a thread that does not block them, and which an exec would end.
TEST(Interrupts, WaitForTheThreadThatBlocksThem) {
  const int status = status_of([] {
    install_interrupt_handlers();
    std::atomic<bool> done{false};
    std::thread other([&] {
      while (!done) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    {
      const InterruptsBlocked blocked;
      ::kill(::getpid(), SIGTERM);  // the system chooses the other thread
      const sigset_t signals = interrupting_signals();
      const timespec most{.tv_sec = 60, .tv_nsec = 0};
      if (::sigtimedwait(&signals, nullptr, &most) != SIGTERM) {
        ::_exit(1);
      }
    }
    done = true;
    other.join();
    ::_exit(kAsExpected);
  });
  EXPECT_TRUE(exited_with(status, kAsExpected)) << status;
}

// What the next test starts in its place: run by itself it would wait for a signal in vain.
TEST(Interrupts, DISABLED_AsTheProgramThatWasStartedAgain) {
  install_interrupt_handlers();
  ::_exit(interrupted() ? kAsExpected : 1);
}

TEST(Interrupts, ThatComeDuringAnExecComeToTheProgramItStarts) {
  const int status = status_of([] {
    install_interrupt_handlers();
    const InterruptsBlocked blocked;
    ::raise(SIGTERM);
    ::execl("/proc/self/exe", "tests", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
            "--gtest_filter=Interrupts.DISABLED_AsTheProgramThatWasStartedAgain", nullptr);
  });
  EXPECT_TRUE(exited_with(status, kAsExpected)) << status;
}

}  // namespace
}  // namespace bench
