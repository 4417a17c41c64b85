// Ranks with more threads than their host has cores: they take turns, so that their times hold waits for a
// core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/result/result.h"

namespace bench {

// The finding on the ranks of a run, and in its details that they take turns.
inline constexpr const char* kRanksFinding = "ranks";
inline constexpr const char* kTakesTurns = "takes_turns";

struct SharedCores {
  std::int64_t ranks = 0;    // on the host
  std::int64_t threads = 1;  // of each
  std::int64_t cores = 0;    // of the host
};
// As a file's finding on the ranks tells it; nullopt where no ranks take turns.
std::optional<SharedCores> shared_cores_in(const ResultDocument& document);

// "[start 2 ranks a host]": so many take no turns, one at least.
std::string fewer_in_words(const SharedCores& shared);
// What shared cores do: "limit 4 ranks: 4 of 1 thread take turns on 2 cores, …"; `ranks`: of all hosts.
std::string turns_in_words(const SharedCores& shared, std::int64_t ranks);

}  // namespace bench
