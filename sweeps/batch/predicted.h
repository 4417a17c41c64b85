// Findings of the batch sweep about speed, of a GPU that is not here. `details.interval80` has their 80 %
// interval.
#pragma once

#include <vector>

#include "bench/result/result.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

Finding predicted_t_inf(const BatchSeries& series);  // samples/s: asymptotic throughput
// share of step time, of the smallest batch and of the saturation batch: what takes the most of it.
Finding predicted_limit(const BatchSeries& series);
Finding predicted_limit_at_saturation(const BatchSeries& series);
// ratio, at the saturation batch where both have it, else at the largest that both have.
Finding predicted_speedup(const BatchSeries& series, const BatchSeries& baseline);
Finding predicted_recommendation(const std::vector<BatchSeries>& all);  // samples

}  // namespace bench::sweeps
