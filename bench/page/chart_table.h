// The numbers of a chart as a table, for who cannot see it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/page/page.h"
#include "bench/stats/estimate.h"
#include "plots/chart.h"

namespace bench {

// "1.5 GiB", "33.1 ± 1.9", "12.3 ± 0.4 GB/s"; of a prediction "980 (840–1150)".
Cell value_cell(double value, const std::optional<Interval>& interval, const plots::Axis& axis,
                bool predicted);

// Below the chart's title: a row for each x, or for each point where points have names, or for the highest
// bar of each region; at most `most` rows, then one that says how many are left out.
TextTable chart_table(const plots::Chart& chart, std::size_t most);

}  // namespace bench
