#include "sweeps/batch/findings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/dtype.h"
#include "sweeps/batch/claims.h"

namespace bench::sweeps {
namespace {

std::size_t dtypes_on_axis(const ResultDocument& document) {
  static const Json::json_pointer kAxis("/axes/dtype");
  return document.sweep.contains(kAxis) ? document.sweep[kAxis].size() : 0;
}

}  // namespace

std::vector<Finding> batch_findings(const ResultDocument& document) {
  std::vector<BatchSeries> all =
      read_series(document, [](const Json& params) { return params.at("dtype").get<std::string>(); });
  std::erase_if(all, [](const BatchSeries& series) { return !parse_dtype(series.dtype); });
  std::ranges::sort(all, {}, [](const BatchSeries& series) { return parse_dtype(series.dtype); });
  // By the axis rather than by what was measured so far: names must not change as points arrive.
  const bool several = all.size() > 1 || dtypes_on_axis(document) > 1;

  std::vector<Finding> findings;
  const auto add = [&](Finding finding, const std::string& dtype) {
    if (several) {
      finding.name += "/" + dtype;
    }
    findings.push_back(std::move(finding));
  };
  for (const BatchSeries& series : all) {
    add(claim_t0(series), series.dtype);
    add(claim_t_inf(series), series.dtype);
    add(claim_ceiling(series), series.dtype);
    add(claim_limit(series), series.dtype);
    add(claim_memory_line(series), series.dtype);
    add(claim_largest_batch(series), series.dtype);
    if (!series.left_out.empty()) {
      add(claim_left_out(series), series.dtype);
    }
  }
  const auto baseline = std::ranges::find(all, "fp32", &BatchSeries::dtype);
  for (const BatchSeries& series : all) {
    if (baseline != all.end() && series.dtype != "fp32") {
      findings.push_back(claim_speedup(series, *baseline));
      findings.push_back(claim_memory_ratio(series, *baseline));
    }
  }
  if (auto conditions = claim_conditions(all, document.context)) {
    findings.push_back(*std::move(conditions));
  }
  findings.push_back(recommend(all));
  return findings;
}

}  // namespace bench::sweeps
