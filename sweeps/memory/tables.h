// The memory sweep's own tables.
#pragma once

#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

// A row for each cap and series: the largest batch, its headroom, the safe one, whether it was proved, and
// the batch worth using.
std::vector<TextTable> memory_tables(const ResultDocument& document);

}  // namespace bench::sweeps
