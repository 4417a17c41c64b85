// The workers sweep's rows for people.
#pragma once

#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

std::vector<TextTable> workers_tables(const ResultDocument& document);

}  // namespace bench::sweeps
