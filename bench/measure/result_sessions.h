// The JSON of a result's sessions and of its points' rounds.
#pragma once

#include <vector>

#include "bench/measure/result.h"
#include "bench/measure/result_json.h"

namespace bench {

Json to_json(const std::vector<Session>& sessions);
std::vector<Session> sessions_from_json(const Field& field);
// The one session of a file of bench-result/1: what its context tells.
Session session_of_context(const RunContext& context);
// For a file of bench-result/1, which has no run id: the same for the same run.
std::string derived_run_id(const Json& context);

Json to_json(const std::vector<MeasuredRound>& rounds);
// `sessions`: how many the file has.
std::vector<MeasuredRound> rounds_from_json(const Field& field, std::size_t sessions);

}  // namespace bench
