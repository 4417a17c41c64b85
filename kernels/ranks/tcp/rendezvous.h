// Brings ranks together over TCP where no MPI does: for texts and barriers alone. It carries no data of a
// device, and nothing that it does is ever measured.
//
// The first rank listens; each other one connects, says which rank of which run it is, and sends what it
// gives to the first, which sends back what all have given.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/ranks.h"

namespace bench::kernels {

struct Rendezvous {
  std::string address;  // of the first rank's host
  int port = 0;
  std::string run;  // tells runs apart; may be empty
  int rank = 0;
  int size = 1;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);  // until all have come
};

// As torchrun sets them: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, TORCHELASTIC_RUN_ID. Where torchrun
// itself listens at MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE), the next port. Throws UsageError naming the
// variable.
Rendezvous rendezvous_of(const LaunchVariables& environment);

// Returns when all ranks have come. Throws UsageError: on the first rank where it cannot listen, a rank comes
// twice or does not come; on another one where the first rank refuses it; FirstRankUnreachable where that
// cannot be reached.
std::unique_ptr<RankGroup> meet(const Rendezvous& rendezvous);

}  // namespace bench::kernels
