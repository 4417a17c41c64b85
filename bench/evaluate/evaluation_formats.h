// An evaluation as text for people and as data.
#pragma once

#include <cstddef>
#include <string>

#include "bench/evaluate/evaluation.h"

namespace bench {

// Answers, the table at saturation, throughput at each batch, notes. `verbose`: all answers and dtypes.
std::string evaluation_text(const Evaluation& evaluation, std::size_t width, bool verbose);
std::string evaluation_markdown(const Evaluation& evaluation, bool verbose);
// A row for each device, dtype and batch.
std::string evaluation_csv(const Evaluation& evaluation);
// See results/evaluate-schema.json.
Json evaluation_json(const Evaluation& evaluation);

}  // namespace bench
