// The workers sweep's rows for people.
#pragma once

#include <vector>

#include "bench/sweep.h"
#include "sweeps/workers/evidence.h"

namespace bench::sweeps {

std::vector<TextTable> workers_tables(const Evidence& evidence);

}  // namespace bench::sweeps
