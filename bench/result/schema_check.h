// JSON of a file is checked by its schema in results/ before anything reads it; readers then take values.
#pragma once

#include <string>
#include <string_view>

#include "bench/result/result_json.h"

namespace bench {

// `schema`: one of schema_names(); `part`: "/definitions/profile", or empty for the whole. Throws UsageError
// for the first value that is not accepted, one sentence with its place, the value and what is accepted:
// "memory_at_batch[1].batch is 0; accepted: a whole number from 1 to 1000000". It knows the keywords of JSON
// Schema that these schemas use and throws std::logic_error for any other. Whole numbers fit 64 bits.
void check_by_schema(const Field& value, std::string_view schema, const std::string& part = "");

}  // namespace bench
