// A result's points as entries of its JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/json.h"
#include "bench/result/json_members.h"
#include "bench/result/result.h"

namespace bench {

// `place`: the index of the point's family, and of the point in it, as Google Benchmark numbers them.
Json point_to_json(const Point& point, std::pair<std::size_t, std::int64_t> place);
// `sessions`: how many the file has. Throws UsageError naming the field that is missing, damaged or
// contradicts another.
Point point_from_json(const Field& field, std::size_t sessions);

// Of a point that was not measured.
Json modelled_to_json(const Point& point);
// Throws UsageError.
Point modelled_from_json(const Field& field);

}  // namespace bench
