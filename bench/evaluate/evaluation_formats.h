// An evaluation as a page and as data.
#pragma once

#include <string>

#include "bench/evaluate/evaluation.h"
#include "bench/page/page.h"

namespace bench {

// Answers, the table at saturation, throughput at each batch, notes. `verbose`: all answers and dtypes.
Page evaluation_page(const Evaluation& evaluation, bool verbose);
// A row for each device, dtype and batch.
std::string evaluation_csv(const Evaluation& evaluation);
// See results/evaluate-schema.json.
Json evaluation_json(const Evaluation& evaluation);

}  // namespace bench
