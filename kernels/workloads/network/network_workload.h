// What the program measures of a network: a workload with a mode for each thing that is done with networks.
#pragma once

#include "bench/workload.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {

WorkloadType network_workload(const NetworkType& network);

}  // namespace bench::kernels
