// Straight lines one after another, for points that one line does not serve because what was measured changes
// its method, or the memory it meets, at some x.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bench/measure/fit.h"

namespace bench {

struct SegmentRule {
  std::size_t most = 3;    // lines
  std::size_t fewest = 3;  // points of each line: one more than it takes to draw one
  // Distance from a line, times the root of the point's weight, below which nothing is told apart: without
  // it, points exactly on a line would be split by the last digits of their residuals.
  double resolution = 0;
};

struct Segment {
  std::size_t first = 0;   // of its points
  std::size_t points = 0;  // so many, in the order given
  LineFit line;
};

// For each number of lines the split with the least sum of weighted squares, by dynamic programming (Bai and
// Perron 2003); of these the number with the least BIC, n·ln(RSS/n) + p·ln(n) with p = 3·lines - 1: two
// numbers a line and the place of each bend (Yao 1988). With few points BIC rather splits than not, so what a
// split is worth shows on points held out only. x must grow, and only lines that grow with it are taken;
// empty where there are none. Throws what fit_line does.
std::vector<Segment> fit_segments(std::span<const double> x, std::span<const double> y,
                                  std::span<const double> weights, const SegmentRule& rule);

}  // namespace bench
