// A fleet: machines with one model of device. What they are called, and which of them is unlike the rest.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// The same for all results of a fleet: by model of device, sweep, workload (of a file: its graph), mode and
// options.
std::string fleet_of(const ResultDocument& document);

// Whether all are of one workload, with one model of device, and no two of one machine.
bool is_fleet(const std::vector<const ResultDocument*>& documents);

// "machine" where the result has no name of its host.
std::string host_of(const RunContext& context);

// Printable names by RunContext::machine: the host's name, with the device's id or the start of the machine's
// own where hosts share a name. Contexts without a machine are passed over.
std::map<std::string, std::string> machine_names(std::span<const RunContext* const> contexts);

// What the points of a machine share: the median of their distances from the points' medians over the
// machines. `rows`: by point, a logarithm of each machine, NaN where it has none. NaN of a machine that
// shares no point with another.
std::vector<double> shared_distances(const std::vector<std::vector<double>>& rows);

// Indices of the values that are further than `least` from their median, and further than 3.5 robust standard
// deviations: the modified z-score of Iglewicz and Hoaglin (1993, How to Detect and Handle Outliers).
// NaN is no value. None below four values: which of three is unlike the rest is not known.
std::vector<std::size_t> outliers_of(std::span<const double> values, double least);

// "11 % longer than", of a logarithm of times.
std::string longer_in_words(double log_ratio);

// "Unlike the other machines: node4 takes 9.9 % longer than the median machine.", of those that are at least
// 3 % unlike. `rows`: logarithms of times, as above; `names`: of the machines.
std::vector<std::string> outliers_in_words(const std::vector<std::vector<double>>& rows,
                                           const std::vector<std::string>& names);

}  // namespace bench
