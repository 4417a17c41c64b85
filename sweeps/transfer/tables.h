// The transfer sweep's points as tables: a row a size, a column a kind of host memory.
#pragma once

#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench::sweeps {

std::vector<TextTable> transfer_tables(const ResultDocument& document);

}  // namespace bench::sweeps
