// How late the consumer thread is scheduled while workers keep the cores busy, from the measured points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sweeps/workers/points.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// From the consumer threads where they slept until a step ended; where none did, from what a file notes of
// the loader alone. The latency on an idle machine is subtracted.
std::vector<simulator::SchedulingLatency> measure_latencies(const LoaderPoints& points, double cores,
                                                            bool storage,
                                                            std::optional<std::int64_t> left_out);

}  // namespace bench::sweeps
