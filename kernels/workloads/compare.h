// Compares a batch of answers with the reference answers of the few distinct samples it repeats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/workload.h"

namespace bench::kernels {

// Row i of `answers` must be expected[i mod expected.size()]: its relative error, ||a - b||2 / ||b||2, is at
// most `tolerance`. Passes on nothing else: no rows, rows of another length and values that are not finite
// all fail. `what` names a row in the detail ("logits of an image").
Verification compare_rows(std::span<const float> answers, std::span<const std::vector<float>> expected,
                          double tolerance, const std::string& what);

}  // namespace bench::kernels
