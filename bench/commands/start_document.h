// A sweep's result before anything is measured.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Where, when and what is asked, and what the sweep's plans alone can tell.
ResultDocument start_document(const Sweep& sweep, const SweepRequest& request, const SweepPlan& plan,
                              Device& device, const Options& options, const std::vector<std::string>& argv);

}  // namespace bench
