// Ctrl-C, SIGTERM and the SIGHUP of a terminal that is closed: the first asks the run to end after the
// current step, the second of the same ends the program. SIGHUP only where it was not ignored at the start,
// as nohup does, and however often it comes.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX, and <csignal> need not have it

#include <stdexcept>

namespace bench {

// Work that was broken off because the run is to end: neither a result nor a failure.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// SIGINT, SIGTERM and, unless it is ignored, SIGHUP.
sigset_t interrupting_signals();

// From here on the first of these signals makes interrupted() true. One that came while they were blocked,
// before this program was started in another's place, counts too.
void install_interrupt_handlers();
// From here on each of these signals, or one that came before, ends the program at once with the exit code of
// an interrupted one: for work that leaves nothing behind and does not ask interrupted().
void end_when_interrupted();
bool interrupted();

// Throws Interrupted if interrupted() is true. For work that takes seconds, such as a network's first make,
// between its parts. `what_was_done`: "operations were prepared".
void stop_if_interrupted(const char* what_was_done);

// While one lives stop_if_interrupted() returns: other ranks wait for what this one is at.
class InterruptsHeld {
 public:
  InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;
  ~InterruptsHeld();
};

// While one lives end_when_interrupted() waits: there is a temporary file to remove.
class EndPostponed {
 public:
  EndPostponed();
  EndPostponed(const EndPostponed&) = delete;
  EndPostponed& operator=(const EndPostponed&) = delete;
  ~EndPostponed();
};

// While one lives these signals wait, whichever thread they come to: for a program that an exec starts in
// this one's place, or for sigwait(). One at a time, by the thread that waits or calls exec. Ask
// interrupted() afterwards: a signal that came before is not among them.
class InterruptsBlocked {
 public:
  InterruptsBlocked();
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;
  ~InterruptsBlocked();
  // The signals that were blocked before.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// In a child process between fork and exec: the default action, so that a signal to the child ends it there
// and is not lost.
void forget_interrupt_handlers();

// As if a signal had come, because it came to another rank; or none had, for tests.
void set_interrupted(bool value);

}  // namespace bench
