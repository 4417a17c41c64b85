// Words and findings of a series on a GPU that is not here, whose points are predicted.
#pragma once

#include <string>

#include "bench/result/result.h"
#include "bench/stats/estimate.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// 80 % intervals of a predicted point.
Interval throughput80(const BatchPoint& point);     // samples/s
double half_width80(const BatchPoint& point);       // of the logarithm
std::string per_second80(const BatchPoint& point);  // "412 (350 to 480) samples/s"

Finding predicted_saturation(const BatchSeries& series);  // samples: the saturation batch

}  // namespace bench::sweeps
