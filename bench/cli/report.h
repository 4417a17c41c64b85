// The output at a run's end: the answer, the table, and one line of warnings.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// The findings to print: the headlines in their order; `verbose`: then all others.
std::vector<const Finding*> printed_findings(const ResultDocument& document, bool verbose);

// Why figures are less reliable or missing, at how many points.
std::vector<Warning> warnings_of(const ResultDocument& document);

// What a run ends with. `tables`: the sweep's, in the order of their weight.
Page result_page(const ResultDocument& document, std::vector<TextTable> tables, bool verbose);

}  // namespace bench
