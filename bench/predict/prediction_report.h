// A prediction as text for a terminal, Markdown, CSV, or a program.
#pragma once

#include <cstddef>
#include <string>

#include "bench/predict/prediction.h"

namespace bench {

// Findings, the table, what calibrated it, and caveats. `verbose`: every batch has a row.
std::string prediction_text(const Prediction& prediction, const ModelCoefficients& coefficients,
                            std::size_t width, bool verbose);
std::string prediction_markdown(const Prediction& prediction, const ModelCoefficients& coefficients,
                                bool verbose);
// A row for each card, dtype and batch.
std::string prediction_csv(const Prediction& prediction);
// {"schema": "bench-predict/1", …}.
std::string prediction_json(const Prediction& prediction);

}  // namespace bench
