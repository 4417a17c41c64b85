// A report as a page, in HTML and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report/report.h"

namespace bench::report {

// The HTML file has at most this many bytes: 300 kB for up to five results, 60 kB more for each further one.
constexpr std::size_t page_limit(std::size_t results) {
  constexpr std::size_t kEach = 60'000;
  return kEach * (results < 5 ? 5 : results);
}

// With style, pictures and results within it. `results`: those that the report is of.
std::string report_html(const Report& report, const std::vector<ReportedResult>& results);

std::string report_markdown(const Report& report);

}  // namespace bench::report
