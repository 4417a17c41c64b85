// The text of --help: one screen, a sweep's options, or a workload's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

// `verbose`: with every option of the program in full.
std::string help(bool verbose);
// `verbose`: with the options of every sweep in full, else with their names.
std::string help_of(const SweepType& sweep, bool verbose);
std::string help_of(const WorkloadType& workload);  // its modes and options
// Units, exit codes and files: sentences.
std::vector<std::string_view> help_notes();
const char* usage();

}  // namespace bench
