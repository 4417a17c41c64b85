// A network as a workload of the program, in the modes infer and train.
#pragma once

#include "bench/workload.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {

WorkloadType network_workload(const NetworkType& network);

}  // namespace bench::kernels
