// Where the bends of a line lie best.
#pragma once

#include <cstddef>
#include <limits>

#include "bench/measure/line_at_bends.h"

namespace bench {

struct FoundBends {
  Nodes nodes;  // the first x, the bends, the last x
  double unexplained = std::numeric_limits<double>::infinity();
};

// The places of so many bends with the least weighted sum of squares, each piece having two points, its ends
// counted: tried at all points and half way between them, then narrowed between the neighbours. Infinite
// unexplained where no such line grows.
FoundBends best_bends(const PointSums& sums, std::size_t bends);

}  // namespace bench
