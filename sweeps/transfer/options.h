// The transfer sweep's own options, read from the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

struct TransferOptions {
  std::vector<std::int64_t> sizes;  // bytes; empty: the sweep's choice
  std::vector<std::string> directions;
  std::vector<std::string> kinds;       // of host memory
  std::vector<std::int64_t> in_flight;  // copies
  std::string node;
  std::int64_t workers = 0;
  std::int64_t prefetch = 0;  // batches each of them holds ready
};

// Throws UsageError, also for the number of a NUMA node that the machine does not have.
TransferOptions transfer_options(const SweepRequest& request, Device& device);

}  // namespace bench::sweeps
