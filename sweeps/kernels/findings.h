// Findings of `--sweep kernels`.
#pragma once

#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// memory_bandwidth, cache_bandwidth, arithmetic_peak/<dtype>, ridge/<dtype>,
// roofline_share/<workload>/<dtype>, cold_caches/<workload>/<dtype>, launch_round_trip, conditions; each only
// where points tell it.
std::vector<Finding> kernels_findings(const ResultDocument& document);

}  // namespace bench::sweeps
