// What the batch sweep says of a GPU that is not here, and of no other: the model tells what a step is made
// of, and how far the errors of two dtypes cancel.
#pragma once

#include <string>

#include "bench/result/result.h"
#include "bench/stats/ratio.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// samples/s: the asymptotic throughput, by the two largest batches.
Finding predicted_t_inf(const BatchSeries& series);
// share of step time: what takes the most of a step.
Finding predicted_limit(const BatchPoint& point, const BatchSeries& series, std::string name);
// a's throughput over b's: two dtypes of one card.
Ratio predicted_ratio(const BatchPoint& a, const BatchPoint& b);

}  // namespace bench::sweeps
