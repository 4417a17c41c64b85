// A sweep's points on a device that is not here.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Adds each point of `plan` to the document: as predicted, or as unmeasured with its reason. An open series
// ends with its first point beyond the cap, or that is unsupported. Returns early when interrupted() turns
// true.
void predict_points(const Sweep& sweep, const SweepPlan& plan, Device& device, std::int64_t memory_cap,
                    ResultDocument& document);

// Puts "Predicted" at the beginning of each claim that does not say so itself.
void mark_as_predicted(std::vector<Finding>& findings);

}  // namespace bench
