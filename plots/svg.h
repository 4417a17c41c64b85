// Writes a chart as inline SVG. Its colours and fonts come from the page's style sheet, so that it follows
// the page's light and dark scheme; its legend is the page's, where text can wrap.
#pragma once

#include <string>
#include <vector>

#include "plots/chart.h"

namespace bench::plots {

// An entry of the legend: a small <svg> as mark, and text that is not escaped yet.
struct SvgLegendEntry {
  std::string mark;
  std::string text;
};

struct SvgChart {
  std::string svg;  // <svg>…</svg>; foreign text in it is escaped
  std::vector<SvgLegendEntry> legend{};
};

SvgChart chart_svg(const Chart& chart);

// The part of a style sheet that charts need: colours of both schemes, lines and marks.
std::string chart_style();

}  // namespace bench::plots
