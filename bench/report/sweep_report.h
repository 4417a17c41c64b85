// What a sweep adds to a report of its results. It registers itself under the sweep's name; the results of a
// sweep that has none still get their findings and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "plots/chart.h"

namespace bench::report {

struct SweepReport {
  std::string name;  // the sweep's
  // Sets Finding::headline as the run did: a file's findings come without. Throws UsageError and
  // Json::exception where points, state or details are not as the sweep writes them.
  void (*choose_headlines)(ResultDocument& document) = nullptr;
  // The finding that says what to use; empty: none does.
  std::string_view recommendation{};
  // The charts of report and picture, most telling first. May read the points' notes in place.
  // Throws UsageError and Json::exception where points or state are not as the sweep writes them.
  std::vector<plots::Chart> (*charts)(ResultDocument& document) = nullptr;
};

}  // namespace bench::report
