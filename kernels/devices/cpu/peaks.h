// The highest rates this processor reaches in a short measurement.
#pragma once

#include <cstdint>

#include "bench/clock.h"
#include "bench/device.h"

namespace bench::kernels {

// A large matrix product in `dtype`, and a copy between buffers far larger than the last cache; about 0.4 s.
// Buffers take at most a quarter of `available_bytes`. The tracker of `device` does not see them.
Peaks measure_cpu_peaks(Device& device, Dtype dtype, std::int64_t available_bytes,
                        const Clock& clock = steady_clock());

}  // namespace bench::kernels
