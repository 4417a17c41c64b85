// A consumer on the workers' own cores: how much both slow each other down.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sweeps/workers/points.h"
#include "sweeps/workers/simulator/law.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// Measured with so many workers. The consumer computes with the cores that workers leave, one at least; more
// threads than cores share them. These speeds are the rest: fewer threads, caches, memory bandwidth.
struct MeasuredSharing {
  std::int64_t workers = 0;
  double consumer_speed = 1;  // in parts of that with ready data
  double worker_speed = 1;    // in parts of the law's
};

// From the fewest workers, as many as cores, and the most. `compute_ns` is a step's with ready data; with
// storage, the workers' speed cannot be told from their waits.
std::vector<MeasuredSharing> measure_sharing(const std::vector<LoaderPoint>& pool,
                                             const simulator::ScalabilityLaw& law, double compute_ns,
                                             bool storage, std::optional<std::int64_t> left_out);
// For the simulation of so many workers on so many cores; empty without a measurement.
std::vector<simulator::SharedCores> shared_cores(const std::vector<MeasuredSharing>& measured,
                                                 std::int64_t workers, double cores);

}  // namespace bench::sweeps
