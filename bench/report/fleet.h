// Results of one sweep from several machines with one model of device, as one table: how much a point differs
// between the machines, and which machine is unlike the rest.
#pragma once

#include <vector>

#include "bench/report/report.h"

namespace bench::report {

// In the order of the results. A result that names no machine is of no fleet, and neither is a predicted one.
std::vector<ReportFleet> fleets_of(const std::vector<ReportedResult>& results);

}  // namespace bench::report
