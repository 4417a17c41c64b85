// One claim and its numbers for each finding of the batch sweep, of measured points and of predicted ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bench/result/result.h"
#include "bench/stats/ratio.h"
#include "sweeps/batch/answer.h"
#include "sweeps/series/findings.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

Finding claim_t0(const BatchSeries& series);     // ns: fixed cost of a step
Finding claim_t_inf(const BatchSeries& series);  // samples/s: asymptotic throughput
Finding claim_limit(const BatchSeries& series);  // share of the smallest batch's step time
Finding claim_limit_at_saturation(
    const BatchSeries& series);  // the same of predicted points' saturation batch

// Throughput of one dtype over another's, by batch that both have in enough rounds. Which to quote: that of
// the saturation batch, where both have it; else of all measured batches the mean, of predicted ones the
// largest.
struct Speedups {
  std::map<std::int64_t, Ratio> by_batch{};
  std::optional<std::int64_t> batch{};  // of `quoted`; none of a mean
  std::optional<Ratio> quoted{};        // none where no batch is shared
};
Speedups speedups_of(const BatchSeries& series, const BatchSeries& baseline);
Finding claim_speedup(const BatchSeries& series, const BatchSeries& baseline);       // ratio
Finding claim_memory_ratio(const BatchSeries& series, const BatchSeries& baseline);  // ratio
Finding claim_largest_batch(const BatchSeries& series);                              // samples

// The dtype and batch to use, with what is known and how sure it is.
Finding claim_recommendation(const BatchAnswer& answer, const ResultDocument& document);  // samples

}  // namespace bench::sweeps
