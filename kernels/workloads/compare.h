// Compares a batch of answers with the reference's.
#pragma once

#include <cstdint>
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

// The same where every row is another: row rows[i] must be expected[i], and the other rows finite.
Verification compare_some_rows(std::span<const float> answers, std::span<const std::int64_t> rows,
                               std::span<const std::vector<float>> expected, double tolerance,
                               const std::string& what);

// At most three of `count` rows: the first, the last and one in the middle.
std::vector<std::int64_t> rows_to_compare(std::int64_t count);

}  // namespace bench::kernels
