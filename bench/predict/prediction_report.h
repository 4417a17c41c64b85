// A prediction as a page, as lines of CSV, and for a program.
#pragma once

#include <string>

#include "bench/page/page.h"
#include "bench/predict/prediction.h"

namespace bench {

// Findings, the table, what calibrated it, and caveats. `verbose`: every batch has a row.
Page prediction_page(const Prediction& prediction, bool all_batches, bool verbose);
// A row for each card, dtype and batch.
std::string prediction_csv(const Prediction& prediction);
// {"schema": "bench-predict/1", …}.
std::string prediction_json(const Prediction& prediction);

}  // namespace bench
