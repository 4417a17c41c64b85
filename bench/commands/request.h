// From the command line to what a sweep is asked.
#pragma once

#include <string>

#include "bench/cli/options.h"
#include "bench/device.h"
#include "bench/sweep.h"

namespace bench {

// Defaults filled in: the sweep's where it has one, else the workload's; the memory cap is 80 % of what is
// free on the device. Throws UsageError for an option of a mode that is not asked for.
SweepRequest make_request(const Options& options, const Sweep& sweep, const WorkloadType& type,
                          const Device& device);

}  // namespace bench
