// Which points the workers sweep measures.
#pragma once

#include <memory>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "bench/workload.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {

// What a plan keeps: the points' own workload types, and what they share.
struct Kept {
  std::shared_ptr<Session> session = std::make_shared<Session>();
  std::vector<std::unique_ptr<WorkloadType>> types;
};

// Ready data, the pool at each worker count, and the loader alone at few; nothing where it is simulated.
// Throws UsageError.
SweepPlan plan_workers(const SweepRequest& request, Device& device);

// Of a plan that measures.
Session& session_of(const SweepPlan& plan);

}  // namespace bench::sweeps
