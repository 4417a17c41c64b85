// A run goes on in a fresh process: after a lost device nothing more can be measured in the old one.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The state that the next process needs in addition to the command line and the result file.
struct Continuation {
  std::size_t errors = 0;  // points in error in the result file
  std::chrono::steady_clock::time_point
      started{};  // when the first process started; the clock is the machine's
};

// The state left by the process that this one replaced; nullopt where it was started otherwise. The answer is
// given once, and no child process inherits it.
std::optional<Continuation> take_continuation();

// Replaces this process by a fresh one of the same program with the same arguments and the same process id.
// Returns only where that fails, and says why. Call it with files closed: nothing is destroyed.
std::string restart(const std::vector<std::string>& argv, const Continuation& continuation);

}  // namespace bench
