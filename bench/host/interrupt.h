// Ctrl-C and SIGTERM: the first asks the run to end after the current step, the second ends the program.
#pragma once

#include <stdexcept>

namespace bench {

// Work that was broken off because the run is to end: neither a result nor a failure.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void install_interrupt_handlers();
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

// As if a signal had come, because it came to another rank; or none had, for tests.
void set_interrupted(bool value);

}  // namespace bench
