// The JSON type of result files. Only declared here: who makes or reads JSON includes <nlohmann/json.hpp> or
// bench/result/result.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace bench {

// Ordered, so that a file reads in the order it was written.
using Json = nlohmann::ordered_json;

}  // namespace bench
