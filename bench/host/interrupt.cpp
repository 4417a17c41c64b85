#include "bench/host/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <string>

namespace bench {
namespace {

std::atomic<bool> was_interrupted{false};
std::atomic<int> holders{0};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int signal) {
  was_interrupted = true;
  // A second signal finds the default action, which ends the program at once.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;  // NOLINT(cppcoreguidelines-pro-type-union-access): how POSIX declares it
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_interrupt_handlers() {
  for (const int signal : std::array{SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = on_signal;  // NOLINT(cppcoreguidelines-pro-type-union-access)
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
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

void set_interrupted(bool value) {
  was_interrupted = value;
}

}  // namespace bench
