// Draws a chart as inline SVG. Its colours and fonts come from the page's style sheet, so that it follows the
// page's light and dark scheme; its legend is the page's, where text can wrap.
#pragma once

#include <string>
#include <vector>

#include "bench/report/chart.h"

namespace bench::report {

// <svg>…</svg>. Foreign text in it is escaped.
std::string chart_svg(const Chart& chart);

// An entry of the legend: a small <svg> as mark, and text that is not escaped yet.
struct LegendEntry {
  std::string mark;
  std::string text;
};
// Empty where one series without lines across needs none.
std::vector<LegendEntry> chart_legend(const Chart& chart);

}  // namespace bench::report
