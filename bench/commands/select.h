// Finding what the command line names: a device, a workload, a sweep.
#pragma once

#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

// "auto" takes the usable device of the highest preference. Throws UsageError naming --device, what was
// given, and every device there is, with the reason where one cannot be used.
std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace bench
