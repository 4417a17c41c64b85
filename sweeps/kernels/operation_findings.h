// What operations reach of their roofline, and what cold caches cost them.
#pragma once

#include <vector>

#include "bench/result/result.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {

// roofline_share/<workload>/<dtype> and cold_caches/<workload>/<dtype>, in the order of the points; each only
// where points tell it.
std::vector<Finding> operation_findings(const std::vector<KernelResult>& points, const Roofline& roofline);

}  // namespace bench::sweeps
