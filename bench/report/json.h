// A report for programs.
#pragma once

#include "bench/json.h"
#include "bench/report/report.h"

namespace bench::report {

// What its pages say: claims, advice, tables and facts. The results' own files have every number.
Json report_json(const Report& report);

}  // namespace bench::report
