// Starts the ranks of a sweep on this host where no launcher did: one process of this program for each.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/error.h"

namespace bench {

struct RankProcessSettings {
  std::string program = "/proc/self/exe";
  // That the others have to end by themselves, and to say why, once one has ended with a failure.
  std::chrono::milliseconds grace = std::chrono::seconds(8);
};

// Runs the program with these arguments (the first is its name) as so many ranks, told apart by the variables
// that torchrun sets, and hands signals that interrupt to the first. Returns when all have ended: when one
// fails, the others are killed after the grace time; all end with this process. The first rank's exit code;
// `inconclusive` where it has none, or another rank failed. Throws UsageError where none can be started.
ExitCode run_ranks_here(const std::vector<std::string>& argv, int ranks,
                        const RankProcessSettings& settings = {});

}  // namespace bench
