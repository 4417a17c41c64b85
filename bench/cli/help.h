// What --help prints: one screen, a sweep's options, or a workload's.
#pragma once

#include <string>

#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

std::string help();
std::string help_of(const SweepType& sweep);        // its options, and those of every sweep
std::string help_of(const WorkloadType& workload);  // its modes and options
const char* usage();

}  // namespace bench
