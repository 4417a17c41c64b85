// One sentence and its numbers for each finding that a series of batches gives whatever the sweep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// A finding without value, interval and claim yet.
inline Finding finding_of(std::string name, std::string unit, std::vector<std::string> evidence = {}) {
  Finding finding;
  finding.name = std::move(name);
  finding.unit = std::move(unit);
  finding.evidence = std::move(evidence);
  return finding;
}

// The claim of a finding that cannot be told from less than two batch sizes.
std::string too_few(const BatchSeries& series, std::string_view needs);

// The claim, with what was wrong with the machine or the measuring of any of the points added to its
// sentence.
std::string with_caveat(std::string claim, const std::vector<BatchPoint>& points);

// "batch 5", "batch 4 to 8".
std::string batches_in_words(std::int64_t low, std::int64_t high);

// "171 samples/s".
std::string per_second(double throughput);

Finding claim_ceiling(const BatchSeries& series);      // samples
Finding claim_memory_line(const BatchSeries& series);  // bytes/sample
Finding claim_left_out(const BatchSeries& series);     // points
// Points measured while other work held the cores, of all series, with what to do that `context` does not say
// is done already; nullopt where there are none.
std::optional<Finding> claim_conditions(const std::vector<BatchSeries>& all, const Json& context);  // points

}  // namespace bench::sweeps
