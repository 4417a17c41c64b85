#include "bench/host/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>

#include "bench/error.h"

namespace bench {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> was_interrupted{false};
std::atomic<bool> ends_at_once{false};
std::atomic<int> holders{0};
std::atomic<int> postponers{0};
std::atomic<pid_t> waiting_thread{0};  // that of InterruptsBlocked; 0: none
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

// Safe in a signal handler.
[[noreturn]] void end_now() {
  constexpr std::string_view kSaid = "bench: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;   // NOLINT(cppcoreguidelines-pro-type-union-access): how POSIX declares it
  action.sa_flags = SA_RESTART;  // libraries expect it; what can wait for ever asks interrupted() itself
  ::sigaction(signal, &action, nullptr);
}

extern "C" void on_signal(int signal) {
  was_interrupted = true;
  if (const pid_t thread = waiting_thread; thread != 0) {
    // This is another thread, which an exec would end: the signal is left to the one that blocks it.
    const int error = errno;
    ::syscall(SYS_tgkill, ::getpid(), thread, signal);
    errno = error;
    return;
  }
  if (ends_at_once && postponers == 0) {
    end_now();
  }
  // A second signal ends the program at once. The end of a terminal sends several SIGHUP, which are one.
  if (signal != SIGHUP) {
    set_action(signal, SIG_DFL);
  }
}

bool is_ignored(int signal) {
  struct sigaction action {};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): how POSIX declares it
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void set_actions(void (*handler)(int)) {
  const sigset_t signals = interrupting_signals();
  for (const int signal : kSignals) {
    if (sigismember(&signals, signal) == 1) {
      set_action(signal, handler);
    }
  }
}

}  // namespace

sigset_t interrupting_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) {
    if (signal != SIGHUP || !is_ignored(signal)) {
      sigaddset(&signals, signal);
    }
  }
  return signals;
}

void install_interrupt_handlers() {
  ends_at_once = false;
  set_actions(on_signal);
  const sigset_t signals = interrupting_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void end_when_interrupted() {
  ends_at_once = true;
  set_actions(on_signal);
  if (was_interrupted) {
    end_now();
  }
}

bool interrupted() {
  return was_interrupted;
}

void stop_if_interrupted(const char* what_was_done) {
  if (was_interrupted && holders == 0) {
    throw Interrupted(std::string("interrupted while ") + what_was_done);
  }
}

InterruptsHeld::InterruptsHeld() {
  ++holders;
}

InterruptsHeld::~InterruptsHeld() {
  --holders;
}

EndPostponed::EndPostponed() {
  ++postponers;
}

EndPostponed::~EndPostponed() {
  if (--postponers == 0 && ends_at_once && was_interrupted) {
    end_now();
  }
}

InterruptsBlocked::InterruptsBlocked() {
  const sigset_t signals = interrupting_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  waiting_thread = static_cast<pid_t>(::syscall(SYS_gettid));
}

InterruptsBlocked::~InterruptsBlocked() {
  waiting_thread = 0;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void forget_interrupt_handlers() {
  set_actions(SIG_DFL);
}

void set_interrupted(bool value) {
  was_interrupted = value;
}

}  // namespace bench
