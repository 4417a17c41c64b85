// An evaluation as a page, as a picture and as data.
#pragma once

#include <string>
#include <vector>

#include "bench/evaluate/evaluation.h"
#include "bench/page/page.h"
#include "bench/result/result_json.h"
#include "plots/chart.h"

namespace bench {

// `verbose`: all, else those that are printed.
std::vector<std::string> claims_of(const Evaluation& evaluation, bool verbose);
// The job on each device, where there is one, and each device at its saturation batch.
std::vector<TextTable> tables_at_saturation(const Evaluation& evaluation);
// Answers, the table at saturation, throughput at each batch, notes. `verbose`: all answers and dtypes.
Page evaluation_page(const Evaluation& evaluation, bool verbose);
// Throughput by batch of each device in the headlines' dtype and in another, memory, and cost or energy.
plots::Picture picture_of(const Evaluation& evaluation);
// A row for each device, dtype and batch.
std::string evaluation_csv(const Evaluation& evaluation);
// See results/evaluate-schema.json.
Json evaluation_json(const Evaluation& evaluation);
// Without what it does not have: machines, files, prices and a host. Throws UsageError.
Evaluation read_evaluation(const Field& root);

}  // namespace bench
