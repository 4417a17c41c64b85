// Which points the workers sweep measures.
#pragma once

#include <memory>

#include "bench/device.h"
#include "bench/sweep.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {

// Ready data, the pool at each worker count, and the loader alone at few. Throws UsageError.
SweepPlan plan_workers(const SweepRequest& request, const WorkersOptions& options, const Device& device,
                       const std::shared_ptr<Session>& session);

}  // namespace bench::sweeps
