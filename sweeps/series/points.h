// How sweeps make their points, and read them back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

// Powers of two up to 65,536: more than any memory or time budget here ends at.
std::vector<std::int64_t> default_batches();

// fp32, bf16 and fp16 where the device has them; fp32 where it has none.
std::vector<Dtype> default_dtypes(const Device& device);

// The values of the workload's options that a mode knows, the workload's default where the request names
// none.
std::map<std::string, std::vector<std::string>> option_values(const SweepRequest& request,
                                                              const std::string& mode);

// A series' batches are multiples of this: the micro-batches of a step.
std::int64_t batch_unit(const WorkloadSpec& spec);

// batch, dtype, mode, workload, and the workload's options.
Json params_of(const std::string& workload, const WorkloadSpec& spec);

// One batch of a series of SweepPoints.
SweepPoint batch_point(const WorkloadType& workload, const WorkloadSpec& spec, std::string name,
                       std::string series);

}  // namespace bench::sweeps
