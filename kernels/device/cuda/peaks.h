// The highest rates a card reaches in a short measurement.
#pragma once

#include "bench/device.h"
#include "kernels/device/cuda/device.h"

namespace bench::kernels::cuda {

// A large matrix product in `dtype` by cuBLASLt, and a copy within the card between buffers far larger than
// its L2 cache, bytes read plus bytes written. Rates that a full card leaves no memory for are 0. Its memory
// is seen by no tracker and given back to the driver.
Peaks measure_peaks(CudaDevice& device, const Backend& backend, Dtype dtype);

}  // namespace bench::kernels::cuda
