// What the transfer sweep measures beside its points: what pinning costs, how long a copy holds the host, and
// a workload's steps with the copy of the next batch before and beside them.
#pragma once

#include "bench/sweep.h"

namespace bench::sweeps {

// document.sweep["transfer"]: {"crosses_bus", "workers", "prefetch", "node"}. Throws UsageError.
void note_transfer(const SweepRequest& request, Device& device, ResultDocument& document);

// Adds to document.sweep["transfer"]:
//   "pinning": [{"bytes", "pin_ns", "pin_ci95_ns", "unpin_ns", "pageable_ns", "free_ns", "taken_bytes"}]:
//   medians of making and freeing memory with its pages touched; or {"bytes", "unsupported": why}.
//   "calls": [{"direction", "host_memory", "bytes", "returns_ns", "returns_ci95_ns", "done_ns",
//   "done_ci95_ns", "cpu_ns"}]: of one copy on a queue of its own, by wall clock, until the call returns and
//   until it is done, and the processor time of the thread.
//   "steps": [{"workload", "mode", "dtype", "batch", "bytes", "rounds", "compute": time, "kinds":
//   [{"host_memory", "copy": time, "serial": time, "beside": time, "compute_beside": time}, or
//   {"host_memory", "unsupported": why}]}], where a time is {"median_ns", "ci95_ns"}.
void prove_transfer(SweepStudy& study);

}  // namespace bench::sweeps
