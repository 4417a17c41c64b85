// An advice as a page, as lines of CSV, and for a program.
#pragma once

#include <string>

#include "bench/advise/advice.h"
#include "bench/json.h"
#include "bench/page/page.h"
#include "bench/result/result_json.h"

namespace bench {

Page advice_page(const Advice& advice);
// A line for each change, those that do not pay too.
std::string advice_csv(const Advice& advice);
Json advice_json(const Advice& advice);
// As advice_json() wrote it. Throws UsageError where it is not so.
Advice advice_of(const Field& root);

}  // namespace bench
