// One model of device that several machines measured is one device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/evaluate/evaluated_device.h"

namespace bench {

// Puts the median machine's points in place of those of all machines: a point's interval reaches from the
// slowest machine's low end to the fastest's high end, its bytes are the most of any. A caveat says so, and
// others name the machines that are unlike the rest. `names`: by EvaluatedDevice::machine. Sorts the points.
void join_fleets(std::vector<EvaluatedDevice>& devices, const std::map<std::string, std::string>& names);

}  // namespace bench
