// The text of --help: one screen, a sweep's options, or a workload's.
#pragma once

#include <string>

#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

// `verbose`: with every option of the program in full.
std::string help(bool verbose);
// `verbose`: with the options of every sweep in full, else with their names.
std::string help_of(const SweepType& sweep, bool verbose);
std::string help_of(const WorkloadType& workload);  // its modes and options
const char* usage();

}  // namespace bench
