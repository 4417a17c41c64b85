// A report as one HTML file: style, pictures and results are within it. It loads nothing and runs no script.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report/report.h"

namespace bench::report {

// The file has at most this many bytes: 300 kB for up to five results, 60 kB more for each further one.
constexpr std::size_t page_limit(std::size_t results) {
  constexpr std::size_t kEach = 60'000;
  return kEach * (results < 5 ? 5 : results);
}

// `results`: those that the report is of.
std::string report_html(const Report& report, const std::vector<ReportedResult>& results);

}  // namespace bench::report
