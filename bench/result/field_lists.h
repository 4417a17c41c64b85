// Lists of a document being read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result_json.h"
#include "bench/stats/estimate.h"

namespace bench {

std::vector<std::string> strings_of(const Field& list);
// Such a member as interval_json() writes it; none where it is missing or null.
std::optional<Interval> find_interval(const Field& object, std::string_view key);

}  // namespace bench
