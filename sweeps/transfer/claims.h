// One sentence and its numbers for each finding of the transfer sweep.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/transfer/curve.h"
#include "sweeps/transfer/points.h"
#include "sweeps/transfer/verdict.h"

namespace bench::sweeps {

// Of plain series, by label.
using TransferCurves = std::map<std::string, TransferCurve>;
TransferCurves fit_curves(const std::vector<TransferSeries>& all);

// Of copies alone.
Finding claim_bus(const ResultDocument& document, const std::vector<TransferSeries>& all);
std::vector<Finding> claim_models(const ResultDocument& document, const std::vector<TransferSeries>& all,
                                  const TransferCurves& curves);
std::optional<Finding> claim_model_error(const std::vector<TransferSeries>& all);
std::vector<Finding> claim_crossovers(const std::vector<TransferSeries>& all, const TransferCurves& curves);
std::vector<Finding> claim_at_once(const std::vector<TransferSeries>& all);
std::vector<Finding> claim_cold_pages(const std::vector<TransferSeries>& all);

// Of what was measured beside them.
std::optional<Finding> claim_pinning(const ResultDocument& document);
std::optional<Finding> claim_calls(const ResultDocument& document, const std::vector<TransferSeries>& all);
std::vector<Finding> claim_overlap(const ResultDocument& document, const std::vector<TransferSeries>& all);
std::vector<Finding> claim_verdicts(const ResultDocument& document);

// What prove() noted under this name; null where it did not get there.
Json transfer_noted(const ResultDocument& document, const char* name);

// {bytes, ns of making pinned memory less those of making pageable memory}, growing.
std::vector<std::pair<double, double>> pinning_costs(const ResultDocument& document);

// "12 % to 34 %".
std::string percent_range(const Interval& shares);

// "to the device", "to the host", "both ways at once".
std::string copy_way(const std::string& direction);

// "12.3 GB/s".
std::string byte_rate(double bytes_per_s);

// "1 MiB" of a whole number of bytes.
std::string size_text(double bytes);

}  // namespace bench::sweeps
