// A fleet: machines with one model of device. pool() makes one result of theirs: how long each takes, which
// is the median machine, how far the others are from it, and which is unlike the rest. All commands answer
// from it; bench compare alone compares each machine with itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// The same for all results of a fleet: by model of device, sweep, workload (of a file: its graph), mode and
// options.
std::string fleet_of(const ResultDocument& document);

// "machine" where the result has no name of its host.
std::string host_of(const RunContext& context);

// Printable names by RunContext::machine: the host's name, with the device's id or the start of the machine's
// own where hosts share a name. Contexts without a machine are passed over.
std::map<std::string, std::string> machine_names(std::span<const RunContext* const> contexts);

// How long each machine of a fleet takes.
struct MachineTimes {
  std::vector<std::string> machines{};  // RunContext::machine, in the order of the results
  std::vector<std::string> names{};     // of these
  std::vector<std::string> points{};    // in the order of the results
  // By point, the logarithm of each machine's time, of several results their median; NaN where it has none.
  std::vector<std::vector<double>> levels{};

  // Of each machine; see shared_distances().
  std::vector<double> distances() const;
  // Indices of the machines that share a point with another, the fastest first.
  std::vector<std::size_t> ranked() const;
  // The machine in the middle. Of an even number the slower of both: half of the machines at least are as
  // fast. nullopt where none shares a point with another.
  std::optional<std::size_t> median() const;
  // "node4 is unlike the other machines: it takes 9.9 % longer than the median machine.", of those that are
  // at least 3 % unlike.
  std::vector<std::string> outliers_in_words() const;
};

// One machine's result, or those of a fleet.
struct Pool {
  std::vector<const ResultDocument*> documents;  // in the order given; at least one
  MachineTimes times{};                          // of a fleet; of one machine empty

  bool is_fleet() const { return times.machines.size() > 1; }
  bool holds_one_a_machine() const {
    return documents.size() == std::max<std::size_t>(1, times.machines.size());
  }
  // As one result: the median machine's. A point that it lacks is the middle one of those that have it. A
  // point's ci95_between_ns reaches from the fastest machine's low end to the slowest one's high end, its
  // bytes are the most of any, and the least memory is available.
  ResultDocument document() const;
};

// In the order of the documents. Measured ones of a fleet that name two machines or more are together; every
// other is alone: predicted ones, and those that name no machine.
std::vector<Pool> pool(const std::vector<const ResultDocument*>& documents);

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

// MachineTimes::outliers_in_words() of any rows; `names`: of the machines.
std::vector<std::string> outliers_in_words(const std::vector<std::vector<double>>& rows,
                                           const std::vector<std::string>& names);

}  // namespace bench
