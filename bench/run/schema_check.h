// Foreign JSON is checked by its schema in results/ before anything reads it; readers then take values.
#pragma once

#include <string_view>

#include "bench/json.h"

namespace bench {

// `name`: one of schema_names(). Throws UsageError for the first value that the schema does not accept, one
// sentence with its place, the value and what is accepted: "memory_at_batch[1].batch is 0; accepted: a whole
// number from 1 to 1000000". Of JSON Schema it knows what the schemas it is asked for use, and throws
// std::logic_error for any other keyword.
void check_by_schema(const Json& document, std::string_view name);

}  // namespace bench
