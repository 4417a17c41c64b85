// Findings of `--sweep kernels`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench::sweeps {

// memory_bandwidth, cache_bandwidth, roof_incomplete, arithmetic_peak/<dtype>, ridge/<dtype>,
// tensor_cores/<dtype>, roofline_share/<workload>/<dtype>, cold_caches/<workload>/<dtype>, launch_round_trip,
// conditions; each only where points tell it. `references`: names of the points that are to set the roofline.
std::vector<Finding> kernels_findings(const ResultDocument& document,
                                      const std::set<std::string>& references);

// The operation that falls shortest of its roofline first, then the roofline. Of a file's findings too.
void choose_kernels_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
