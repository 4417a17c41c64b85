// Charts of series of batches, for the report and the picture of a result.
#pragma once

#include <vector>

#include "bench/result/result.h"
#include "plots/chart.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// A member of a finding's details; none where the file lacks it or it is no number.
std::optional<double> number_in(const Json& details, const char* name);

// The finding of a series: "t_inf/fp32", or "t_inf" where there is but one; nullptr: there is none. Words and
// figures on a page are those of the file: a newer program may compute others.
const Finding* finding_for(const std::vector<Finding>& findings, const std::string& name,
                           const BatchSeries& series);

// Throughput against batch: marks, the curve and the limit that the findings give, a ring at the saturation
// batch, a cross for each batch that was not measured.
plots::Chart throughput_chart(const std::vector<BatchSeries>& all, const ResultDocument& document,
                              const SeriesLabel& label);

// What fills the memory at each batch, with the fitted line; a chart a series that has points, all with one
// axis.
std::vector<plots::Chart> memory_charts(const std::vector<BatchSeries>& all, const ResultDocument& document,
                                        const SeriesLabel& label);

// The colour of a category's bars.
std::size_t colour_of(MemoryCategory category);

}  // namespace bench::sweeps
