// The output at a run's end: the answer, the table, and one line of warnings.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// The findings to print: the headlines in their order; `verbose`: then all others.
std::vector<const Finding*> printed_findings(const ResultDocument& document, bool verbose);

// Why figures are less reliable or missing, at how many points, and what to do; "(○)" where the table marks
// these points. Empty: no reason.
std::string warning_of(const ResultDocument& document);

// What a run ends with; tables with details only where `verbose`.
Page result_page(const ResultDocument& document, const std::vector<TextTable>& tables, bool verbose);

}  // namespace bench
