// A point made ready on its device, with what its preparation cost and what it holds.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

struct Prepared {
  std::unique_ptr<Workload> workload;
  double setup_ns = 0;      // making it and warming it up
  double warm_step_ns = 0;  // what to expect of a sample
  PointMemory memory;       // after the warm-up, where verified; peak_predicted is the caller's to set
};

enum class Verify { no, yes };

// Makes the workload, verifies it where asked, and warms it up: the first steps touch fresh pages and
// compile. Throws OutOfMemory, Unsupported, or std::runtime_error when the answer is wrong. `verification` is
// set where asked.
Prepared prepare_point(const SweepPoint& point, const WorkloadType& type, Device& device, Verify verify,
                       Verification* verification);

}  // namespace bench
