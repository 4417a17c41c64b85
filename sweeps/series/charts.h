// Pictures of series of batches, for a report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/report/chart.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// Throughput against batch, a curve a series; its name has the saturation batch that the findings give.
report::Chart throughput_chart(const std::vector<BatchSeries>& all, const std::vector<Finding>& findings);

// What fills the memory at each batch, a picture a series that has points, all with one axis.
std::vector<report::Chart> memory_charts(const std::vector<BatchSeries>& all,
                                         std::optional<std::int64_t> cap_bytes);

}  // namespace bench::sweeps
