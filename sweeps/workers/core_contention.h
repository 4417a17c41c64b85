// How workers and the consumer hold each other up on the host's cores, from the measured points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sweeps/workers/points.h"
#include "sweeps/workers/simulator/law.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// How late the consumer thread is scheduled while workers keep the cores busy: from the consumer threads
// where they slept until a step ended; where none did, from what a file notes of the loader alone. The
// latency on an idle machine is subtracted.
std::vector<simulator::SchedulingLatency> measure_latencies(const LoaderPoints& points, double cores,
                                                            bool storage,
                                                            std::optional<std::int64_t> left_out);

// How late threads were scheduled next to so many workers, in ns beyond an idle machine's latency, and the
// part of the time in which a core was busy with the workers.
struct Lateness {
  std::int64_t workers = 0;
  double busy = 1;
  std::vector<double> late_ns{};
};
// Of the threads that met a busy core, by groups of counts.
std::vector<simulator::SchedulingLatency> latencies_of(const std::vector<Lateness>& measured, double cores);

// The slowdown of a consumer on the workers' own cores and of this many workers, beyond that of sharing cores
// by time. The consumer computes with the cores that the workers leave, at least one; if threads outnumber
// cores, they share them by time. The rest is due to the consumer's fewer threads, to caches and to memory
// bandwidth.
struct MeasuredSharing {
  std::int64_t workers = 0;
  double consumer_speed = 1;  // in parts of that with ready data
  double worker_speed = 1;    // in parts of the law's
};

// Uses three points: the fewest workers, as many as cores, and the most. `compute_ns` is a step's with ready
// data. With storage the workers' slowdown is indistinguishable from their waits, and is taken as none.
std::vector<MeasuredSharing> measure_sharing(const std::vector<LoaderPoint>& pool,
                                             const simulator::ScalabilityLaw& law, double compute_ns,
                                             bool storage, std::optional<std::int64_t> left_out);
// For the simulation of so many workers on so many cores; empty without a measurement.
std::vector<simulator::SharedCores> shared_cores(const std::vector<MeasuredSharing>& measured,
                                                 std::int64_t workers, double cores);

}  // namespace bench::sweeps
