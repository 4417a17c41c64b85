// The table of `--sweep kernels`: each point as rates, and the share of what the roofline allows.
#pragma once

#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

std::vector<TextTable> kernels_tables(const ResultDocument& document);

}  // namespace bench::sweeps
