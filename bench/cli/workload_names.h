// The workloads by the names that people know them by.
#pragma once

#include <string_view>

#include "bench/workload.h"

namespace bench {

// By its name, else whatever its case and signs ("ResNet-50"), else by another name of the same network
// ("gpt2"); nullptr: there is none.
const WorkloadType* workload_called(std::string_view name);

}  // namespace bench
