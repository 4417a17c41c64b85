// Words that the claims on ranks and on layers over ranks share.
#pragma once

#include <string>
#include <string_view>

#include "bench/text/intervals.h"
#include "sweeps/cards/answer.h"

namespace bench::sweeps {

// "63 ± 4 %"; without an interval "63 %". `to`: kToInCell in a table.
std::string percent_in_words(const Estimate& share, std::string_view to = kTo);
// "57 ± 2 samples/s"; "1.58 times (1.34 to 1.87)"; "1.58".
std::string per_second(const CardsPoint& point);
Cell rate_cell(const CardsPoint& point);  // the same in a table of samples/s
std::string times_in_words(const Estimate& speedup);
std::string times_alone(const Estimate& speedup);
// Adds the memory of one rank alone to a finding on that of several: ", one alone 99.9 MiB", for its claim;
// empty where it was not measured.
std::string memory_alone(Finding& finding, const CardsPoint* alone);
// "One rank alone was not measured, …", and what to do. `ranks`: of the point that it is missed for.
std::string alone_was_not_measured(const ResultDocument& document, int ranks);

// The findings on layers over ranks, and the name of that on one step.
std::vector<Finding> stage_findings(const std::vector<CardsPoint>& all, const CardsAnswer& answer,
                                    const ResultDocument& document);
std::string stage_step_name(const CardsPoint& point);
std::vector<TextTable> stage_tables(const std::vector<CardsPoint>& all);

}  // namespace bench::sweeps
