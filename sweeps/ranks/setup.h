// Where the ranks of a sweep run.
#pragma once

#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/result/shared_cores.h"
#include "bench/sweep.h"

namespace bench::sweeps {

struct RankSetup {
  std::vector<std::string> hosts;  // of each rank
  int near = 0;                    // ranks on the first one's host
  int cores = 0;                   // of that host, which these may use together

  SharedCores sharing(int threads_each) const {
    return {.ranks = near, .threads = threads_each, .cores = cores};
  }
  // Whether there are more threads than cores.
  bool takes_turns(int threads_each) const { return near * threads_each > cores; }
};

RankSetup setup_of(const SweepRequest& request);
// As a file tells it, by its finding on the ranks. Throws Json::exception.
RankSetup rank_setup_in(const ResultDocument& document);

// Throws UsageError where the device is not here: ranks are measured, not predicted.
void require_real_device(const std::string& sweep, const Device& device);

// How many hosts there are; `threads` of each rank that share a host's cores. A warning where they take
// turns.
Finding claim_ranks(const RankSetup& setup, int threads);

}  // namespace bench::sweeps
