// A line that bends: straight pieces, each beginning where the one before ends, for points that one straight
// line does not serve because what was measured changes its method, or the memory it meets, at some x.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bench/measure/fit.h"

namespace bench {

struct BrokenLineRule {
  std::size_t most_bends = 2;
  // Distance from the line, times the root of the point's weight, below which nothing is told apart: without
  // it, points exactly on a line would bend it by the last digits of their residuals.
  double resolution = 1e-9;
};

struct LinePiece {
  double from = 0;  // x at which it begins and ends: the first or last point, or a bend
  double to = 0;
  std::size_t points = 0;  // within, those at its ends among them
  Estimate intercept;      // where it would meet x = 0
  Estimate slope;
};

struct BrokenLine {
  std::vector<LinePiece> pieces;  // at least one
  double unexplained = 0;         // weighted sum of squares
};

// Weighted least squares over continuous lines of up to so many bends (Hudson 1966), pieces that grow or stay
// flat: one that would fall is flat. Bends lie anywhere from the second x to the last but one, so that each
// piece has two points, its ends counted: a jump is a steep piece between two neighbouring x. The number of
// bends has the least n·ln(RSS/n) + p·ln(n) with p = 2 + 3·bends. BIC would have 2 for a bend, its slope and
// its place; but the search for the place finds something in scatter too. In simulations at 18 doublings,
// scatter alone (3 % and 8 %) bends one straight line of 11, and more than one of three at every second of
// these x. A line has two points more than the 2 + 2·bends numbers that are fitted, at least.
// Intervals are Student's t with the bends taken as known, so narrow: with two bends, in the same
// simulations, the first piece's slope was held by 77 to 84 of 100, everything else by 90 to 92. x must be
// positive and grow. nullopt where the line as a whole does not grow, or for fewer than two points. Throws
// what fit_line does.
std::optional<BrokenLine> fit_broken_line(std::span<const double> x, std::span<const double> y,
                                          std::span<const double> weights, const BrokenLineRule& rule);

}  // namespace bench
