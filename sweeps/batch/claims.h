// One sentence and its numbers for each finding of the batch sweep.
#pragma once

#include <vector>

#include "bench/measure/result.h"
#include "sweeps/series/claims.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

Finding claim_t0(const BatchSeries& series);             // ns
Finding claim_t_inf(const BatchSeries& series);          // samples/s
Finding claim_limit(const BatchSeries& series);          // share of the smallest batch's step time
Finding claim_largest_batch(const BatchSeries& series);  // samples
Finding claim_speedup(const BatchSeries& series, const BatchSeries& baseline);       // ratio
Finding claim_memory_ratio(const BatchSeries& series, const BatchSeries& baseline);  // ratio
Finding recommend(const std::vector<BatchSeries>& all);                              // samples

}  // namespace bench::sweeps
