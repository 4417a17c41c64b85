// The memory sweep's own table.
#pragma once

#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/state.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// A row for each cap and series: the largest batch, its headroom, the safe one, whether it was proved, and
// the saturation batch.
std::vector<TextTable> limit_tables(std::vector<Limit> limits, const std::vector<BatchSeries>& all);

}  // namespace bench::sweeps
