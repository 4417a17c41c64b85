// An evaluation as a page, as a picture and as data.
#pragma once

#include <string>

#include "bench/evaluate/evaluation.h"
#include "bench/page/page.h"
#include "plots/chart.h"

namespace bench {

// Answers, the table at saturation, throughput at each batch, notes. `verbose`: all answers and dtypes.
Page evaluation_page(const Evaluation& evaluation, bool verbose);
// Throughput by batch of each device in the headlines' dtype and in another, memory, and cost or energy.
plots::Picture picture_of(const Evaluation& evaluation);
// A row for each device, dtype and batch.
std::string evaluation_csv(const Evaluation& evaluation);
// See results/evaluate-schema.json.
Json evaluation_json(const Evaluation& evaluation);

}  // namespace bench
