#include "bench/report/fleet.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bench/compare/wording.h"
#include "bench/result/fleet.h"
#include "bench/stats/statistics.h"

namespace bench::report {
namespace {

// A point that two machines or more have timed.
struct FleetRow {
  Cells cells;
  double spread = 0;  // logarithm of the slowest's time over the fastest's
};

FleetRow row_of(const std::string& point, const std::vector<double>& levels,
                const std::vector<std::string>& names) {
  std::vector<std::pair<double, std::string>> known;
  std::vector<double> values;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!std::isnan(levels[i])) {
      known.emplace_back(levels[i], names[i]);
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

ReportFleet fleet_of_results(const Pool& machines) {
  const MachineTimes& times = machines.times;
  std::vector<FleetRow> rows;
  for (std::size_t i = 0; i < times.points.size(); ++i) {
    if (std::ranges::count_if(times.levels[i], [](double level) { return !std::isnan(level); }) > 1) {
      rows.push_back(row_of(times.points[i], times.levels[i], times.names));
    }
  }
  ReportFleet fleet{.title = title_of(*machines.documents.front()),
                    .machines = times.machines.size(),
                    .sentences = {},
                    .points = {}};
  if (rows.empty()) {
    fleet.sentences.emplace_back("No point was measured on two of the machines.");
    return fleet;
  }
  std::vector<double> spreads;
  std::ranges::transform(rows, std::back_inserter(spreads), &FleetRow::spread);
  fleet.sentences = {fmt::format(
      "The slowest machine takes {} the fastest at the median point, {} it at the point that differs most.",
      longer_in_words(median(spreads)), longer_in_words(std::ranges::max(spreads)))};
  std::ranges::move(times.outliers_in_words(), std::back_inserter(fleet.sentences));
  std::ranges::stable_sort(rows, std::greater<>(), &FleetRow::spread);
  fleet.points.rows.push_back({"point", "machines", "median", "between machines", "fastest", "slowest"});
  std::ranges::transform(rows, std::back_inserter(fleet.points.rows),
                         [](FleetRow& row) { return std::move(row.cells); });
  return fleet;
}

}  // namespace

std::vector<ReportFleet> fleets_of(const std::vector<ReportedResult>& results) {
  std::vector<const ResultDocument*> documents;
  std::ranges::transform(results, std::back_inserter(documents),
                         [](const ReportedResult& result) { return &result.document; });
  std::vector<ReportFleet> fleets;
  for (const Pool& machines : pool(documents)) {
    if (machines.is_fleet()) {
      fleets.push_back(fleet_of_results(machines));
    }
  }
  return fleets;
}

}  // namespace bench::report
