// The JSON of what a result says before its points: where and with what it was measured, and the question.
#pragma once

#include "bench/result/result.h"
#include "bench/result/result_json.h"

namespace bench {

Json to_json(const RunContext& context);
RunContext context_from_json(const Field& field);

Json to_json(const WorkloadFile& file);

Json to_json(const SweepDescription& sweep);
SweepDescription sweep_from_json(const Field& field);

}  // namespace bench
