#include "bench/report/fleet.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/wording.h"
#include "bench/result/fleet.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench::report {
namespace {

class Fleet {
 public:
  void add(const ResultDocument& document) {
    title_ = title_of(document);
    contexts_.push_back(&document.context);
    if (std::ranges::find(machines_, document.context.machine) == machines_.end()) {
      machines_.push_back(document.context.machine);
    }
    for (const MeasuredPoint& point : document.benchmarks) {
      if (std::ranges::find(names_, point.name) == names_.end()) {
        names_.push_back(point.name);
      }
      if (const std::vector<double> medians = round_medians(point); !medians.empty() && median(medians) > 0) {
        times_[point.name][document.context.machine].push_back(median(medians));
      }
    }
  }

  bool is_one() const { return machines_.size() > 1; }

  ReportFleet report() const {
    const std::map<std::string, std::string> names = machine_names(contexts_);
    std::vector<Row> rows;
    std::vector<std::vector<double>> levels;
    for (const std::string& point : names_) {
      const auto found = times_.find(point);
      if (found != times_.end() && found->second.size() > 1) {
        levels.push_back(levels_of(found->second));
        rows.push_back(row_of(point, levels.back(), names));
      }
    }
    ReportFleet fleet{.title = title_, .machines = machines_.size(), .sentences = {}, .points = {}};
    if (rows.empty()) {
      fleet.sentences.emplace_back("No point was measured on two of the machines.");
      return fleet;
    }
    fleet.sentences = sentences(levels, rows, names);
    std::ranges::stable_sort(rows, std::greater<>(), &Row::spread);
    fleet.points.rows.push_back({"point", "machines", "median", "between machines", "fastest", "slowest"});
    for (Row& row : rows) {
      fleet.points.rows.push_back(std::move(row.cells));
    }
    return fleet;
  }

 private:
  struct Row {
    Cells cells;
    double spread = 0;  // logarithm of the slowest's time over the fastest's
  };

  // Logarithms of the machines' medians; NaN where one has not measured the point.
  std::vector<double> levels_of(const std::map<std::string, std::vector<double>>& times) const {
    std::vector<double> levels;
    for (const std::string& machine : machines_) {
      const auto found = times.find(machine);
      levels.push_back(found == times.end() ? std::numeric_limits<double>::quiet_NaN()
                                            : std::log(median(found->second)));
    }
    return levels;
  }

  Row row_of(const std::string& point, const std::vector<double>& levels,
             const std::map<std::string, std::string>& names) const {
    std::vector<std::pair<double, std::string>> known;
    std::vector<double> values;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (!std::isnan(levels[i])) {
        known.emplace_back(levels[i], names.at(machines_[i]));
        values.push_back(levels[i]);
      }
    }
    const auto [fastest, slowest] = std::ranges::minmax(known);
    const double center = median(values);
    return {.cells = {point, known.size(), Cell::time(std::exp(center)),
                      Cell::figure(
                          range_in_words(std::exp(fastest.first - center), std::exp(slowest.first - center))),
                      fastest.second, slowest.second},
            .spread = slowest.first - fastest.first};
  }

  std::vector<std::string> sentences(const std::vector<std::vector<double>>& levels,
                                     const std::vector<Row>& rows,
                                     const std::map<std::string, std::string>& names) const {
    std::vector<double> spreads;
    std::ranges::transform(rows, std::back_inserter(spreads), &Row::spread);
    std::vector<std::string> sentences{fmt::format(
        "The slowest machine takes {} the fastest at the median point, {} it at the point that differs most.",
        longer_in_words(median(spreads)), longer_in_words(std::ranges::max(spreads)))};
    std::vector<std::string> named;
    for (const std::string& machine : machines_) {
      named.push_back(names.at(machine));
    }
    std::ranges::copy(outliers_in_words(levels, named), std::back_inserter(sentences));
    return sentences;
  }

  std::string title_;
  std::vector<const RunContext*> contexts_;
  std::vector<std::string> machines_;
  std::vector<std::string> names_;                                           // of points
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;  // by point and machine
};

}  // namespace

std::vector<ReportFleet> fleets_of(const std::vector<ReportedResult>& results) {
  std::vector<std::string> keys;
  std::vector<Fleet> fleets;
  for (const ReportedResult& result : results) {
    const ResultDocument& document = result.document;
    if (is_predicted(document) || document.context.machine.empty()) {
      continue;
    }
    auto key = std::ranges::find(keys, fleet_of(document));
    if (key == keys.end()) {
      key = keys.insert(key, fleet_of(document));
      fleets.emplace_back();
    }
    fleets[static_cast<std::size_t>(key - keys.begin())].add(document);
  }
  std::vector<ReportFleet> reports;
  for (const Fleet& fleet : fleets) {
    if (fleet.is_one()) {
      reports.push_back(fleet.report());
    }
  }
  return reports;
}

}  // namespace bench::report
