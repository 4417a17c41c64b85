// A result document that uses every field, with values that are hard to keep: long decimals, 2^53 + 1, signs.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/result/result.h"

namespace bench::testing {

RunContext sample_context();
Point sample_point(std::int64_t batch, std::int64_t step_ns);
std::vector<Session> sample_sessions();
ResultDocument sample_document();

}  // namespace bench::testing
