// A result as one picture: its charts below its answer.
#pragma once

#include "bench/result/result.h"
#include "plots/chart.h"

namespace bench::report {

// The charts that a report of the result shows, with the title, the first finding, where and when it was
// measured, and what there is to know: the warning, and what was not measured.
plots::Picture picture_of(ResultDocument document);

}  // namespace bench::report
