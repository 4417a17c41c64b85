// A report as Markdown, for a terminal, a pull request or a wiki: findings and tables, no pictures.
#pragma once

#include <string>

#include "bench/report/report.h"

namespace bench::report {

std::string report_markdown(const Report& report);

}  // namespace bench::report
