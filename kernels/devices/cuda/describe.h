// A card in words: what a result file says about it.
#pragma once

#include <map>
#include <string>

#include "bench/device.h"
#include "kernels/devices/cuda/nvml.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// 12080 is "12.8".
std::string version_text(int version);

// Details: compute_capability ("8.6"), uuid, pci_bus_id, l2_bytes, driver, cuda, power_limit_w, clocks.*,
// what the environment says of tf32, and those of `libraries`. `monitor` may be nullptr. Asks the runtime
// about the current card.
DeviceInfo describe(Runtime& runtime, const CardProperties& card, int ordinal, CardMonitor* monitor,
                    const std::map<std::string, std::string>& libraries);

}  // namespace bench::kernels::cuda
