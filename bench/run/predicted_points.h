// A sweep's points on a device that is not here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// Throws Unsupported and OutOfMemory.
using PointPredictor = std::function<Point(const SweepPoint& point)>;

// Adds each point of `plan` to the document: as predicted, or as unmeasured with its reason. An open series
// ends with its first point beyond the cap, or that is unsupported. Returns early when interrupted() turns
// true.
void predict_points(const SweepPlan& plan, Device& device, std::int64_t memory_cap,
                    const PointPredictor& predict, ResultDocument& document);

// Puts "Predicted" at the beginning of each claim but those that say what they are of.
void mark_as_predicted(std::vector<Finding>& findings);

}  // namespace bench
