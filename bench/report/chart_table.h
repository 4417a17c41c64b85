// The numbers of a chart as a table, for who cannot see it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/stats/estimate.h"
#include "bench/sweep.h"
#include "plots/chart.h"

namespace bench::report {

// "1.5 GiB", "33.1 ± 1.9", "12.3 ± 0.4 GB/s"; of a prediction "980 (840 to 1150)".
std::string value_text(double value, const std::optional<Interval>& interval, const plots::Axis& axis,
                       bool predicted);

// A row for each x, or for each point where points have names, or for the highest bar of each region; at most
// `most` rows, then one that says how many are left out.
TextTable chart_table(const plots::Chart& chart, std::size_t most);

}  // namespace bench::report
