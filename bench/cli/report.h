// The output at a run's end: the answer, the table, and one line of warnings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/page/page.h"
#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// The findings to print: the headlines in their order; `verbose`: then all others.
std::vector<const Finding*> printed_findings(const ResultDocument& document, bool verbose);

// That a run took much longer than asked for, and why; `quick`: than --quick aims at.
std::optional<Warning> lateness_of(const ResultDocument& document, double took_ns, bool quick);

// Why figures are less reliable or missing, at how many points. `late`: lateness_of().
std::vector<Warning> warnings_of(const ResultDocument& document,
                                 const std::optional<Warning>& late = std::nullopt);

// What a run ends with. `tables`: the sweep's, in the order of their weight.
Page result_page(const ResultDocument& document, std::vector<TextTable> tables, bool verbose,
                 const std::optional<Warning>& late = std::nullopt);

}  // namespace bench
