// A group of ranks that are threads of one process: the simplest one that is right, for tests.
#pragma once

#include <functional>
#include <memory>

#include "bench/ranks.h"

namespace bench::testing {

// Runs `body` once for each rank, each on a thread of its own; returns when all have ended. Rethrows what one
// of them throws, which must not leave others waiting.
void run_ranks(int size, const std::function<void(RankGroup& group)>& body);

}  // namespace bench::testing
