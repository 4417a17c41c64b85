// Sections of a report for what other commands wrote: an evaluation, a comparison, or advice.
#pragma once

#include <string>
#include <vector>

#include "bench/json.h"
#include "bench/page/page.h"

namespace bench::report {

struct StoredAnswer {
  std::string file{};   // as messages call it
  std::string claim{};  // its first; empty: it has none
  Page page{};          // its section
};

// "bench-evaluation" and the like.
std::vector<std::string> stored_answer_schemas();
// Of its schema, in any version.
bool is_stored_answer(const Json& json);
// Throws UsageError where the JSON is not as the command writes it.
StoredAnswer stored_answer_of(const Json& json, const std::string& file);

}  // namespace bench::report
