// The JSON of a result's sessions and of its points' rounds.
#pragma once

#include <vector>

#include "bench/result/result.h"
#include "bench/result/result_json.h"

namespace bench {

Json to_json(const std::vector<Session>& sessions);
std::vector<Session> sessions_from_json(const Field& field);

Json to_json(const std::vector<MeasuredRound>& rounds);
// `sessions`: how many the file has.
std::vector<MeasuredRound> rounds_from_json(const Field& field, std::size_t sessions);

}  // namespace bench
